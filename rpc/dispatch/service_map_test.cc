// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/service_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/dispatch/test_services_bare.pb.h"
#include "rpc/dispatch/test_services_two.pb.h"

namespace farcall {
namespace {

// Generated services are made to be derived from.
template <typename Base>
class Real final : public Base {};

// Counts its destructor.
class Mortal final : public one::Lone {
 public:
  explicit Mortal(int& deaths) : deaths_(deaths) {}
  ~Mortal() override { ++deaths_; }

 private:
  int& deaths_;
};

TEST(ServiceMapTest, FindsByFullAndByShortName) {
  Real<one::Echo> echo;
  ServiceMap map;
  ASSERT_TRUE(map.Add(echo).ok());
  for (const char* name : {"farcall.one.Echo", "Echo"}) {
    SCOPED_TRACE(name);
    const ServiceMap::Found found = map.Find(name, "Shout");
    EXPECT_EQ(found.service, &echo);
    ASSERT_NE(found.method, nullptr);
    EXPECT_EQ(found.method->full_name(), "farcall.one.Echo.Shout");
  }
}

TEST(ServiceMapTest, TellsNoServiceFromNoMethod) {
  Real<one::Echo> echo;
  ServiceMap map;
  EXPECT_EQ(map.Find("Echo", "Say").service, nullptr);
  ASSERT_TRUE(map.Add(echo).ok());
  for (const char* name : {"", "echo", "one.Echo", "farcall.one.Echo2", "farcall.two.Echo"}) {
    EXPECT_EQ(map.Find(name, "Say").service, nullptr) << name;
    EXPECT_EQ(map.Find(name, "Say").method, nullptr) << name;
  }
  for (const char* method : {"", "say", "farcall.one.Echo.Say", "Whisper"}) {
    EXPECT_EQ(map.Find("Echo", method).service, &echo) << method;
    EXPECT_EQ(map.Find("Echo", method).method, nullptr) << method;
  }
}

TEST(ServiceMapTest, AFullNameIsTakenOnce) {
  Real<one::Echo> first;
  Real<one::Echo> second;
  ServiceMap map;
  ASSERT_TRUE(map.Add(first).ok());
  const absl::Status again = map.Add(second);
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_NE(again.message().find("farcall.one.Echo"), absl::string_view::npos);
  EXPECT_EQ(map.Find("farcall.one.Echo", "Say").service, &first);
}

TEST(ServiceMapTest, AShortNameStaysWithTheFirst) {
  Real<one::Echo> first;
  Real<two::Echo> second;
  ServiceMap map;
  ASSERT_TRUE(map.Add(first).ok());
  ASSERT_TRUE(map.Add(second).ok());
  EXPECT_EQ(map.Find("Echo", "Say").service, &first);
  EXPECT_EQ(map.Find("farcall.one.Echo", "Say").service, &first);
  EXPECT_EQ(map.Find("farcall.two.Echo", "Say").service, &second);
}

TEST(ServiceMapTest, AFullNameGoesBeforeAShortOneInEitherOrder) {
  Real<one::Echo> packaged;
  Real<::Echo> bare;
  {
    ServiceMap map;
    ASSERT_TRUE(map.Add(packaged).ok());
    ASSERT_TRUE(map.Add(bare).ok());
    EXPECT_EQ(map.Find("Echo", "Whisper").service, &bare);
    EXPECT_EQ(map.Find("farcall.one.Echo", "Say").service, &packaged);
    EXPECT_EQ(map.Add(bare).code(), absl::StatusCode::kAlreadyExists);
  }
  ServiceMap map;
  ASSERT_TRUE(map.Add(bare).ok());
  ASSERT_TRUE(map.Add(packaged).ok());
  EXPECT_EQ(map.Find("Echo", "Whisper").service, &bare);
  EXPECT_EQ(map.Find("farcall.one.Echo", "Say").service, &packaged);
}

TEST(ServiceMapTest, KeepsAStateForEachMethodWhateverNameItIsFoundBy) {
  Real<one::Echo> echo;
  ServiceMap map;
  ASSERT_TRUE(map.Add(echo).ok());
  MethodState* const say = map.Find("Echo", "Say").state;
  ASSERT_NE(say, nullptr);
  EXPECT_EQ(map.Find("farcall.one.Echo", "Say").state, say);
  EXPECT_EQ(map.Find("farcall.one.Echo.Say").state, say);
  EXPECT_EQ(map.Find("Echo.Say").state, say);
  EXPECT_NE(map.Find("Echo.Shout").state, say);
  EXPECT_EQ(map.Find("Echo", "Whisper").state, nullptr);
  for (const char* name : {"", ".", "Echo", "Echo.", ".Say", "Say", "farcall.one.Echo"}) {
    EXPECT_EQ(map.Find(name).method, nullptr) << name;
  }
}

TEST(ServiceMapTest, ListsAllMethodsInTheirOrder) {
  Real<one::Lone> lone;
  Real<one::Echo> echo;
  ServiceMap map;
  ASSERT_TRUE(map.Add(lone).ok());
  ASSERT_TRUE(map.Add(echo).ok());
  ASSERT_FALSE(map.Add(echo).ok());
  std::vector<std::string> names;
  for (const ServiceMap::Found& method : map.all()) names.push_back(method.method->full_name());
  EXPECT_EQ(names, (std::vector<std::string>{"farcall.one.Lone.Say", "farcall.one.Echo.Say",
                                             "farcall.one.Echo.Shout"}));
}

TEST(ServiceMapTest, OwnsWhatItIsGivenAlsoWhenThatFails) {
  int deaths = 0;
  {
    ServiceMap map;
    EXPECT_TRUE(map.AddOwned(std::make_unique<Mortal>(deaths)).ok());
    EXPECT_EQ(map.AddOwned(std::make_unique<Mortal>(deaths)).code(),
              absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(deaths, 1);
  }
  EXPECT_EQ(deaths, 2);
}

TEST(ServiceMapTest, TheLastOneMayBeTakenBack) {
  int deaths = 0;
  Real<one::Echo> stays;
  ServiceMap map;
  ASSERT_TRUE(map.Add(stays).ok());
  ASSERT_TRUE(map.AddOwned(std::make_unique<Mortal>(deaths)).ok());
  ASSERT_EQ(map.all().size(), 3u);
  map.RemoveLastOwned();
  EXPECT_EQ(deaths, 1);
  EXPECT_EQ(map.all().size(), 2u);
  for (const char* name : {"farcall.one.Lone", "Lone"}) {
    EXPECT_EQ(map.Find(name, "Say").service, nullptr) << name;
  }
  EXPECT_EQ(map.Find("Echo", "Say").service, &stays);
  EXPECT_TRUE(map.AddOwned(std::make_unique<Mortal>(deaths)).ok()) << "its name is free";
}

TEST(ServiceMapTest, ALimitMayComeBeforeItsMethod) {
  Real<one::Echo> first;
  Real<two::Echo> second;
  ServiceMap map;
  map.SetLimit("farcall.two.Echo.Say", 2);
  map.SetLimit("Echo.Shout", 3);
  EXPECT_EQ(map.LimitOf("Echo.Shout").number(), 3);
  EXPECT_EQ(map.Unmet(), "Echo.Shout");
  ASSERT_TRUE(map.Add(first).ok());
  EXPECT_EQ(map.Find("farcall.one.Echo.Shout").state->limit.limit(), 3);
  EXPECT_EQ(map.Unmet(), "farcall.two.Echo.Say");
  ASSERT_TRUE(map.Add(second).ok());
  EXPECT_EQ(map.LimitOf("farcall.two.Echo.Say").number(), 2);
  EXPECT_EQ(map.LimitOf("farcall.one.Echo.Say").number(), 0);
  EXPECT_EQ(map.Unmet(), "");
}

TEST(ServiceMapTest, OwnedServicesMayGoBeforeTheMap) {
  int deaths = 0;
  Real<one::Echo> kept;
  ServiceMap map;
  EXPECT_TRUE(map.AddOwned(std::make_unique<Mortal>(deaths)).ok());
  EXPECT_TRUE(map.Add(kept).ok());
  map.DestroyOwned();
  EXPECT_EQ(deaths, 1);
}

}  // namespace
}  // namespace farcall
