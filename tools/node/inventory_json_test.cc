// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/node/inventory.h"
#include "tools/node/testing/fixture.h"

namespace farcall::node {
namespace {

using ::testing::HasSubstr;

TEST(InventoryJsonTest, EachNodeComesBackAsItWas) {
  std::string lines;
  std::vector<Inventory> nodes;
  for (const char* const name : kFixtures) {
    const FixtureTree tree = FixtureTree::Named(name);
    nodes.push_back(ReadInventory(tree.root()));
    const auto line = ToJsonLine(nodes.back());
    ASSERT_TRUE(line.ok());
    EXPECT_EQ(line->find('\n'), std::string::npos);
    lines += *line + "\n";
  }
  const auto back = FromJson(lines);
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back->size(), nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ((*back)[i].SerializeAsString(), nodes[i].SerializeAsString()) << kFixtures[i];
  }
}

TEST(InventoryJsonTest, FieldsHaveTheNamesOfTheProtoFile) {
  const FixtureTree tree = FixtureTree::Named("cx7_roce");
  const auto line = ToJsonLine(ReadInventory(tree.root()));
  ASSERT_TRUE(line.ok());
  for (const char* const part :
       {"\"hostname\":\"roce-node-1\"", "\"link_layer\":\"Ethernet\"", "\"rate_gbps\":200"}) {
    EXPECT_THAT(*line, HasSubstr(part));
  }
}

TEST(InventoryJsonTest, ArraysAndNoObjectsAreTaken) {
  const auto two = FromJson("[{\"hostname\":\"a\"},{\"hostname\":\"b\"}]");
  ASSERT_TRUE(two.ok());
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ((*two)[1].hostname(), "b");
  EXPECT_TRUE(FromJson("")->empty());
}

TEST(InventoryJsonTest, ErrorsNameTheObjectAndTheCure) {
  const auto unknown = FromJson("{\"hostname\":\"a\"}\n{\"colour\":1}\n");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("object 2 of the JSON"));
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("colour"));
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("same version"));
  EXPECT_FALSE(FromJson("Error from server").ok());
  EXPECT_FALSE(FromJson("{\"devices\": [{\"name\": {}}]}").ok());
}

}  // namespace
}  // namespace farcall::node
