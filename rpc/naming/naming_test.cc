// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "rpc/naming/naming_testing.h"

namespace farcall {
namespace {

using std::chrono::seconds;

class NamingTest : public ::testing::Test {
 protected:
  std::string PublishedFor(const std::string& target) {
    EXPECT_TRUE(Naming::Check(target).ok()) << Naming::Check(target);
    Start(target);
    world_.Run();
    return world_.TakePublished();
  }
  void Start(const std::string& target) {
    world_.Start([&](Naming::OnNodes on_nodes) {
      return Naming::Start(world_.parts, *world_.loop, target, seconds(5), std::move(on_nodes));
    });
  }

  NamingWorld world_;
};

TEST_F(NamingTest, ASingleTargetIsOneServer) {
  EXPECT_EQ(PublishedFor("10.0.0.1:80"), "10.0.0.1:80");
  EXPECT_EQ(PublishedFor("[::1]:80"), "[::1]:80");
  EXPECT_EQ(PublishedFor("unix:/run/s,t"), "unix:/run/s,t");
  EXPECT_EQ(world_.hosts, std::vector<std::string>{""});
}

TEST_F(NamingTest, ANameIsOneServerThatIsResolvedAtEachConnect) {
  EXPECT_EQ(PublishedFor("storage.ns:80"), "storage.ns:80");
  EXPECT_EQ(world_.hosts, std::vector<std::string>{"storage.ns:80"});
  EXPECT_TRUE(world_.blocking.empty());
}

TEST_F(NamingTest, AListIsItsServers) {
  EXPECT_EQ(PublishedFor("list://a:1,b:2 7,10.0.0.7:8002 3 tag"), "a:1,b:2 7,10.0.0.7:8002 3 tag");
  world_.Refresh();
  world_.Advance(seconds(100));
  EXPECT_EQ(world_.TakePublished(), "") << "it never changes";
}

TEST_F(NamingTest, AFileIsItsLines) {
  TestDirectory files;
  files.Write("servers", "a:1\nb:2\n");
  EXPECT_EQ(PublishedFor("file://" + files.Path("servers")), "a:1,b:2");
}

TEST_F(NamingTest, ANumberAsANameInDnsIsItself) {
  EXPECT_EQ(PublishedFor("dns://10.0.0.1:80"), "10.0.0.1:80");
  EXPECT_EQ(PublishedFor("dns://[::1]:80"), "[::1]:80");
}

TEST_F(NamingTest, LocalhostIsThisMachineInDnsToo) {
  const std::string published = PublishedFor("dns://localhost:80");
  EXPECT_TRUE(absl::StrContains(published, "127.0.0.1:80")) << published;
  EXPECT_EQ(world_.hosts.front(), "localhost:80");
}

TEST_F(NamingTest, NothingIsToldAfterTheEnd) {
  for (const std::string target : {"a:1", "list://a:1", "file:///a", "dns://a:1"}) {
    world_.Hold([&] {
      Naming::Start(world_.parts, *world_.loop, target, seconds(5), [](auto) { FAIL(); }).reset();
    });
    world_.Advance(seconds(5));
  }
}

TEST_F(NamingTest, ItMayBeDestroyedWhileItTells) {
  world_.on_published = [this] { world_.naming.reset(); };
  for (const std::string target : {"a:1", "list://a:1,b:2", "dns://localhost:80"}) {
    EXPECT_NE(PublishedFor(target), "") << target;
    EXPECT_EQ(world_.naming, nullptr);
  }
}

TEST_F(NamingTest, ATargetThatIsNoneIsToldWhatThereIs) {
  const struct {
    const char* target;
    const char* says;
  } cases[] = {
      {"", "none of host:port"},
      {"storage", "none of host:port"},
      {"storage:0", "no good port"},
      {"http://storage:80", "none of host:port, 1.2.3.4:port, [::1]:port, unix:PATH, list://a:1"},
      {"LIST://a:1", "file://PATH and dns://name:port"},
      {"list://", "list://: server 1 is empty"},
      {"list://a:1,b", "list://: server 2: target \"b\" is none of"},
      {"file://", "names no file: it is file://PATH, as in file:///etc/servers"},
      {"dns://", "dns://: target \"\" is none of"},
      {"dns://storage", "dns://: target \"storage\" is none of"},
      {"dns://unix:/run/s", "dns:// takes a name and a port"},
      {"bad\x01://x", "target \"bad\\x01://x\""},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.target);
    const absl::Status status = Naming::Check(one.target);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(status.message(), one.says)) << status;
  }
  EXPECT_FALSE(Naming::Check(std::string("file:///a\0b", 11)).ok());
}

}  // namespace
}  // namespace farcall
