// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/resolve_dns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rpc/naming/resolve_testing.h"
#include "rpc/testing/eventually.h"

namespace farcall {
namespace {

using std::chrono::seconds;

std::string Text(const absl::StatusOr<DnsRecords>& records) {
  if (!records.ok()) return std::string(records.status().message());
  std::vector<std::string> texts;
  for (const Address& address : records->addresses) texts.push_back(address.ToString());
  std::sort(texts.begin(), texts.end());
  return absl::StrJoin(texts, ",");
}

class ResolveDnsTest : public ::testing::Test {
 protected:
  ~ResolveDnsTest() override { Stop(); }

  void Start(const std::string& host) {
    answer_.reset();
    world_.serve = [this] { return server_.Serve(); };
    world_.Hold([&] {
      lookup_ = std::make_unique<DnsLookup>(world_.parts, *world_.loop, host, 80, server_.options(),
                                            [this](DnsAnswer answer) {
                                              lookup_.reset();
                                              answer_ = std::move(answer);
                                            });
    });
  }
  void Stop() {
    world_.Hold([this] { lookup_.reset(); });
  }
  bool Answered() {
    return Eventually([this] {
      world_.Run();
      return answer_.has_value();
    });
  }
  // "IPv4 / IPv6".
  std::string AnswerOf(const std::string& host) {
    Start(host);
    if (!Answered()) return "no answer";
    return absl::StrCat(Text(answer_->ipv4), " / ", Text(answer_->ipv6));
  }
  std::string Asked() { return absl::StrJoin(server_.TakeAsked(), " "); }
  // Until the server was asked so.
  bool WasAsked(const std::string& asked) {
    return Eventually([&] {
      world_.Run();
      absl::StrAppend(&asked_, " ", Asked());
      return absl::StrContains(asked_, asked);
    });
  }

  TestNameServer server_{"search ns.test test\noptions ndots:2\n"};
  NamingWorld world_;
  std::unique_ptr<DnsLookup> lookup_;
  std::optional<DnsAnswer> answer_;
  std::string asked_;
};

TEST_F(ResolveDnsTest, AllAddressesOfBothFamiliesWithTheShortestLife) {
  server_.Set("a.b.c", {"10.0.0.1", "10.0.0.2"}, {"fd00::1"}, 30);
  server_.at("a.b.c", TestNameServer::kAaaa).ttl = 7;
  EXPECT_EQ(AnswerOf("a.b.c"), "10.0.0.1:80,10.0.0.2:80 / [fd00::1]:80");
  EXPECT_EQ(answer_->ttl, seconds(7));
  EXPECT_EQ(Asked(), "a.b.c/A a.b.c/AAAA");
}

TEST_F(ResolveDnsTest, ANameMayHaveOneFamily) {
  server_.Set("a.b.c", {"10.0.0.1"}, {}, 30);
  EXPECT_EQ(AnswerOf("a.b.c"), "10.0.0.1:80 / ");
  EXPECT_EQ(answer_->ttl, seconds(30));
  server_.Set("a.b.c", {}, {"fd00::1"});
  EXPECT_EQ(AnswerOf("a.b.c"), " / [fd00::1]:80");
}

TEST_F(ResolveDnsTest, AnAliasIsFollowed) {
  server_.Set("a.b.c", {"10.0.0.1"}, {});
  server_.at("a.b.c", TestNameServer::kA).alias = "other.test";
  EXPECT_EQ(AnswerOf("a.b.c"), "10.0.0.1:80 / ");
  server_.at("a.b.c", TestNameServer::kA).ips.clear();
  EXPECT_EQ(AnswerOf("a.b.c"), " / ") << "an alias that leads to nothing";
}

TEST_F(ResolveDnsTest, ANameThatDoesNotExistIsNoErrorButEmpty) {
  EXPECT_EQ(AnswerOf("no.such.name"), " / ");
  EXPECT_EQ(answer_->ttl, std::nullopt);
  EXPECT_EQ(Asked(),
            "no.such.name/A no.such.name/AAAA no.such.name.ns.test/A no.such.name.ns.test/AAAA "
            "no.such.name.test/A no.such.name.test/AAAA")
      << "as it is, then in the search domains";
}

TEST_F(ResolveDnsTest, AShortNameIsSoughtInTheSearchDomainsFirst) {
  server_.Set("storage.test", {"10.0.0.1"});
  server_.Set("storage", {"10.0.0.9"});
  EXPECT_EQ(AnswerOf("storage"), "10.0.0.1:80 / ");
  EXPECT_EQ(Asked(), "storage.ns.test/A storage.ns.test/AAAA storage.test/A storage.test/AAAA");
  EXPECT_EQ(AnswerOf("storage."), "10.0.0.9:80 / ") << "a dot at the end: as it is";
  EXPECT_EQ(Asked(), "storage/A storage/AAAA");
}

TEST_F(ResolveDnsTest, AFailureIsNotTakenForANameThatDoesNotExist) {
  server_.at("storage.ns.test", TestNameServer::kA).rcode = 2;
  server_.at("storage.ns.test", TestNameServer::kAaaa).rcode = 2;
  server_.Set("storage.test", {"10.0.0.9"});
  const std::string answer = AnswerOf("storage");
  EXPECT_TRUE(absl::StartsWith(answer, "no name server tells it: ")) << answer;
  EXPECT_FALSE(absl::StrContains(Asked(), "storage.test")) << "the next may be another service";
}

TEST_F(ResolveDnsTest, OfAFamilyThatFailsTheErrorIsTold) {
  server_.Set("a.b.c", {"10.0.0.1"}, {});
  server_.at("a.b.c", TestNameServer::kAaaa).rcode = 2;
  const std::string answer = AnswerOf("a.b.c");
  EXPECT_TRUE(absl::StartsWith(answer, "10.0.0.1:80 / no name server tells it: ")) << answer;
}

TEST_F(ResolveDnsTest, AFamilyThatIsNotAnsweredHoldsUpTheOtherForASecond) {
  server_.Set("a.b.c", {"10.0.0.1"}, {});
  server_.at("a.b.c", TestNameServer::kAaaa).silent = true;
  Start("a.b.c");
  ASSERT_TRUE(WasAsked("a.b.c/A a.b.c/AAAA"));
  EXPECT_FALSE(answer_.has_value());
  world_.Advance(DnsLookup::kOtherFamily);
  ASSERT_TRUE(Answered());
  EXPECT_EQ(Text(answer_->ipv4), "10.0.0.1:80");
  EXPECT_EQ(Text(answer_->ipv6), "name servers do not answer");
}

TEST_F(ResolveDnsTest, WhereNobodyAnswersItEndsInTime) {
  server_.at("a.b.c", TestNameServer::kA).silent = true;
  server_.at("a.b.c", TestNameServer::kAaaa).silent = true;
  Start("a.b.c");
  ASSERT_TRUE(WasAsked("a.b.c/AAAA"));
  world_.Advance(DnsLookup::kTimeout - std::chrono::milliseconds(1));
  EXPECT_FALSE(answer_.has_value());
  world_.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(Text(answer_->ipv4), "name servers do not answer");
  EXPECT_EQ(answer_->ipv6.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ResolveDnsTest, ItEndsInTimeThoughTheFilesAreNotRead) {
  Start("a.b.c");
  world_.loop->RunOnce();
  ASSERT_EQ(world_.blocking.size(), 1u);
  const auto late = std::exchange(world_.blocking, {});
  world_.Advance(DnsLookup::kTimeout);
  ASSERT_TRUE(answer_.has_value());
  EXPECT_FALSE(answer_->ipv4.ok());
  late.front()();
  world_.Run();
}

TEST_F(ResolveDnsTest, WhatDoesNotFitIsAskedForByTcp) {
  std::vector<std::string> ips;
  for (int i = 0; i < 1000; ++i) ips.push_back(absl::StrCat("10.1.", i / 250, ".", i % 250));
  server_.Set("a.b.c", ips, {});
  server_.at("a.b.c", TestNameServer::kA).only_tcp = true;
  Start("a.b.c");
  ASSERT_TRUE(Answered());
  ASSERT_TRUE(answer_->ipv4.ok()) << answer_->ipv4.status();
  EXPECT_EQ(answer_->ipv4->addresses.size(), 1000u);
  EXPECT_TRUE(absl::StrContains(Asked(), "a.b.c/A/tcp"));
}

TEST_F(ResolveDnsTest, AnAnswerThatIsGarbageIsAnError) {
  server_.Set("a.b.c", {}, {});
  // A response with one answer that is cut off.
  server_.at("a.b.c", TestNameServer::kA).bytes =
      std::string("\x81\x80\0\x01\0\x01\0\0\0\0\1a\1b\1c\0\0\x01\0\x01\xc0\x0c\0\x01\0", 26);
  Start("a.b.c");
  ASSERT_TRUE(WasAsked("a.b.c/AAAA"));
  world_.Advance(DnsLookup::kTimeout);
  ASSERT_TRUE(Answered());
  EXPECT_FALSE(answer_->ipv4.ok());
}

TEST_F(ResolveDnsTest, LocalhostIsNotAskedFor) {
  const std::string answer = AnswerOf("localhost");
  EXPECT_TRUE(absl::StartsWith(answer, "127.0.0.1:80")) << answer;
  EXPECT_EQ(answer_->ttl, std::nullopt);
  EXPECT_EQ(Asked(), "");
}

TEST_F(ResolveDnsTest, NamesThatDnsDoesNotTakeAreErrors) {
  const std::string answer = AnswerOf(std::string(64, 'a') + ".b.c.");
  EXPECT_EQ(answer, "it is no name for DNS / it is no name for DNS");
}

TEST_F(ResolveDnsTest, WhereTooMuchWaitsItFails) {
  world_.refuse_blocking = true;
  EXPECT_TRUE(absl::StrContains(AnswerOf("a.b.c"), "too many names wait"));
}

TEST_F(ResolveDnsTest, ItMayEndAtAnyPoint) {
  server_.at("a.b.c", TestNameServer::kA).silent = true;
  server_.at("a.b.c", TestNameServer::kAaaa).silent = true;
  const size_t watched = [this] {
    size_t size = 0;
    world_.Hold([&] { size = world_.loop->fds().size(); });
    return size;
  }();
  Start("a.b.c");
  Stop();
  world_.Run();
  Start("a.b.c");
  ASSERT_TRUE(WasAsked("a.b.c/AAAA"));
  world_.Hold([&] { EXPECT_GT(world_.loop->fds().size(), watched); });
  Stop();
  world_.Hold([&] { EXPECT_EQ(world_.loop->fds().size(), watched); });
  world_.Advance(DnsLookup::kTimeout);
  EXPECT_FALSE(answer_.has_value());
}

}  // namespace
}  // namespace farcall
