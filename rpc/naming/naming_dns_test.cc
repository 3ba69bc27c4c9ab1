// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_dns.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "rpc/naming/resolve_testing.h"
#include "rpc/testing/eventually.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kName[] = "storage.ns.test";

class NamingDnsTest : public ::testing::Test {
 protected:
  void Start(Duration interval = seconds(60)) {
    world_.serve = [this] { return server_.Serve(); };
    world_.Start([&](Naming::OnNodes on_nodes) {
      return StartDnsNaming(world_.parts, *world_.loop, *Target::Parse("storage.ns.test:80"),
                            interval, server_.options(), std::move(on_nodes));
    });
  }
  // What is published after the next query for the name.
  std::string NextPublished() {
    EXPECT_TRUE(Eventually([this] {
      world_.Run();
      return !world_.published.empty();
    }));
    return world_.TakePublished();
  }
  // Until a look-up that begins now has ended.
  bool Looked() {
    const bool asked = Eventually([this] {
      world_.Run();
      return !server_.TakeAsked().empty();
    });
    return asked && Eventually([this] {
             world_.Run();
             return Watched() == watched_;
           });
  }
  // Descriptors: more than before where a look-up is under way.
  size_t Watched() {
    size_t count = 0;
    world_.Hold([&] { count = world_.loop->fds().size(); });
    return count;
  }
  bool IsAsked() {
    world_.Run();
    return !server_.TakeAsked().empty();
  }

  TestNameServer server_;
  NamingWorld world_;
  const size_t watched_ = Watched();
};

TEST_F(NamingDnsTest, EachAddressIsAServer) {
  server_.Set(kName, {"10.0.0.2", "10.0.0.1", "10.0.0.2"}, {"fd00::1"});
  Start();
  EXPECT_EQ(NextPublished(), "10.0.0.1:80,10.0.0.2:80,[fd00::1]:80") << "each once";
  EXPECT_EQ(world_.hosts, std::vector<std::string>(3, "storage.ns.test:80"));
}

TEST_F(NamingDnsTest, ItIsAskedAgainWhenTheAnswerIsOutOfDate) {
  server_.Set(kName, {"10.0.0.1"}, {}, 5);
  Start();
  EXPECT_EQ(NextPublished(), "10.0.0.1:80");
  server_.Set(kName, {"10.0.0.2"}, {}, 5);
  server_.TakeAsked();
  world_.Advance(milliseconds(4999));
  EXPECT_FALSE(IsAsked());
  world_.Advance(milliseconds(1));
  EXPECT_EQ(NextPublished(), "10.0.0.2:80");
}

TEST_F(NamingDnsTest, ItIsAskedAgainAfterTheIntervalThoughTheAnswerIsGood) {
  server_.Set(kName, {"10.0.0.1"}, {}, 3600);
  Start(seconds(3));
  EXPECT_EQ(NextPublished(), "10.0.0.1:80");
  server_.Set(kName, {"10.0.0.2"}, {}, 3600);
  world_.Advance(seconds(3));
  EXPECT_EQ(NextPublished(), "10.0.0.2:80");
}

TEST_F(NamingDnsTest, AnAnswerThatIsNeverGoodIsGoodForASecond) {
  server_.Set(kName, {"10.0.0.1"}, {}, 0);
  Start(milliseconds(10));
  EXPECT_EQ(NextPublished(), "10.0.0.1:80");
  server_.TakeAsked();
  world_.Advance(milliseconds(999));
  EXPECT_FALSE(IsAsked());
  server_.Set(kName, {"10.0.0.2"}, {}, 0);
  world_.Advance(milliseconds(1));
  EXPECT_EQ(NextPublished(), "10.0.0.2:80");
}

TEST_F(NamingDnsTest, RefreshAsksAtOnceButOnceASecond) {
  server_.Set(kName, {"10.0.0.1"}, {}, 3600);
  Start();
  EXPECT_EQ(NextPublished(), "10.0.0.1:80");
  server_.Set(kName, {"10.0.0.2"}, {}, 3600);
  server_.TakeAsked();
  world_.Refresh();
  EXPECT_FALSE(IsAsked());
  world_.Advance(seconds(1));
  EXPECT_EQ(NextPublished(), "10.0.0.2:80");
  server_.Set(kName, {"10.0.0.3"}, {}, 3600);
  world_.Advance(seconds(10));
  world_.Refresh();
  EXPECT_EQ(NextPublished(), "10.0.0.3:80");
}

TEST_F(NamingDnsTest, ANameThatNeverResolvedIsAnErrorUntilItDoes) {
  Start();
  const std::string error = NextPublished();
  EXPECT_TRUE(absl::StartsWith(error, "NOT_FOUND: dns://storage.ns.test:80: the name does not"))
      << error;
  world_.Advance(seconds(1));
  EXPECT_EQ(NextPublished(), error) << "it is asked again soon";
  server_.Set(kName, {"10.0.0.1"});
  world_.Advance(seconds(2));
  EXPECT_EQ(NextPublished(), "10.0.0.1:80");
  EXPECT_TRUE(world_.log.empty());
}

TEST_F(NamingDnsTest, TheLastGoodAnswerStaysAndTheLogTellsWhyOnceAnEpisode) {
  server_.Set(kName, {"10.0.0.1", "10.0.0.2"}, {}, 1);
  Start();
  EXPECT_EQ(NextPublished(), "10.0.0.1:80,10.0.0.2:80");
  server_.Remove(kName);
  for (int i = 0; i < 5; ++i) {
    world_.Advance(seconds(60));
    ASSERT_TRUE(Looked());
  }
  server_.at(kName, TestNameServer::kA).rcode = 2;
  server_.at(kName, TestNameServer::kAaaa).rcode = 2;
  world_.Advance(seconds(60));
  ASSERT_TRUE(Looked());
  EXPECT_EQ(world_.TakePublished(), "");
  EXPECT_EQ(world_.Logged("dns://storage.ns.test:80: the name does not exist"), 1);
  EXPECT_EQ(world_.Logged("its 2 servers stay"), 1);
  EXPECT_EQ(world_.log.size(), 1u);

  server_.Set(kName, {"10.0.0.3"}, {}, 1);
  world_.Advance(seconds(60));
  EXPECT_EQ(NextPublished(), "10.0.0.3:80");
  server_.Remove(kName);
  world_.Advance(seconds(60));
  ASSERT_TRUE(Looked());
  EXPECT_EQ(world_.log.size(), 2u) << "a new episode";
}

TEST_F(NamingDnsTest, ItMayBeDestroyedWhileItTells) {
  server_.Set(kName, {"10.0.0.1"});
  world_.on_published = [this] { world_.naming.reset(); };
  Start();
  EXPECT_EQ(NextPublished(), "10.0.0.1:80");
  world_.Advance(seconds(100));
  EXPECT_TRUE(world_.published.empty());
}

TEST_F(NamingDnsTest, ItMayBeDestroyedWhileItAsks) {
  server_.at(kName, TestNameServer::kA).silent = true;
  Start();
  ASSERT_TRUE(Eventually([this] { return IsAsked(); }));
  world_.Stop();
  world_.Advance(seconds(100));
  EXPECT_TRUE(world_.published.empty());
}

absl::StatusOr<DnsRecords> Records(const std::vector<std::string>& addresses) {
  DnsRecords records;
  for (const std::string& address : addresses) {
    records.addresses.push_back(*Address::Parse(address));
  }
  return records;
}

std::string Text(const DnsKnown& known) {
  std::string text;
  for (const Address& address : known.addresses()) text += address.ToString() + " ";
  return text;
}

const absl::Status kLate = absl::DeadlineExceededError("late");

TEST(DnsKnownTest, AFamilyOfWhichNothingIsToldStays) {
  DnsKnown known;
  ASSERT_TRUE(known.Update({Records({"1.1.1.1:1"}), Records({"[::1]:1"}), {}}).ok());
  EXPECT_TRUE(known.Update({Records({"1.1.1.2:1"}), kLate, {}}).ok());
  EXPECT_EQ(Text(known), "1.1.1.2:1 [::1]:1 ");
  EXPECT_TRUE(known.Update({kLate, Records({}), {}}).ok());
  EXPECT_EQ(Text(known), "1.1.1.2:1 ");
}

TEST(DnsKnownTest, WhereNothingWouldBeLeftAllStays) {
  DnsKnown known;
  EXPECT_EQ(known.Update({Records({}), Records({}), {}}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(known.Update({kLate, Records({}), {}}).message(), "the name cannot be resolved: late");
  ASSERT_TRUE(known.Update({Records({"1.1.1.1:1"}), Records({}), {}}).ok());
  EXPECT_EQ(known.Update({Records({}), kLate, {}}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(known.Update({kLate, kLate, {}}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(known.Update({Records({}), Records({}), {}}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Text(known), "1.1.1.1:1 ");
}

}  // namespace
}  // namespace farcall
