// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/reloading_context.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

constexpr TimePoint kStart = TimePoint() + std::chrono::hours(1);
// When files that do not load since kStart are logged.
constexpr TimePoint kImpatient = kStart + ReloadingContext::kTimeout;

std::string ReadFile(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A server's pair that may be replaced.
class Fixture {
 public:
  explicit Fixture(Duration interval = Duration::zero()) {
    options_.files = ca.Issue("server");
    options_.files.reload_interval = interval;
    auto created = ReloadingContext::Create(
        options_.files,
        [this]() -> absl::StatusOr<ReloadingContext::Loaded> {
          ++loads;
          if (out_of_descriptors) return absl::ResourceExhaustedError("too many open files");
          return LoadServerContext(options_);
        },
        [this](absl::string_view line) { lines.emplace_back(line); });
    if (created.ok()) context = *std::move(created);
  }

  const TlsFiles& files() const { return options_.files; }

  TestCa ca;
  std::atomic<int> loads{0};
  bool out_of_descriptors = false;
  std::vector<std::string> lines;
  std::unique_ptr<ReloadingContext> context;

 private:
  ServerTlsOptions options_;
};

TEST(ReloadingContextTest, FilesThatStayAreReadOnce) {
  Fixture fixture;
  const auto first = fixture.context->Current(kStart);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(fixture.context->Current(kStart), first);
  EXPECT_EQ(fixture.loads, 1);
  EXPECT_TRUE(fixture.lines.empty());
}

TEST(ReloadingContextTest, ANewPairHoldsForNewConnectionsAndIsToldOnce) {
  Fixture fixture;
  const auto first = fixture.context->Current(kStart);
  fixture.ca.Issue("server");
  const auto second = fixture.context->Current(kStart);
  EXPECT_NE(second, first);
  EXPECT_EQ(fixture.context->Current(kStart), second);
  EXPECT_EQ(fixture.loads, 2);
  ASSERT_EQ(fixture.lines.size(), 1u);
  EXPECT_TRUE(absl::StrContains(fixture.lines[0], "server.pem")) << fixture.lines[0];
}

TEST(ReloadingContextTest, ABadPairIsToldOnceAndTheOldOneStays) {
  Fixture fixture;
  const auto first = fixture.context->Current(kStart);
  const TlsFiles other = fixture.ca.Issue("other");
  const std::string key = fixture.ca.file().substr(0, fixture.ca.file().rfind('/')) + "/server.key";
  ReplaceFile(key, "nothing");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fixture.context->Current(kStart), first);
  EXPECT_TRUE(fixture.lines.empty());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fixture.context->Current(kImpatient), first);
  EXPECT_EQ(fixture.loads, 2);
  ASSERT_EQ(fixture.lines.size(), 1u);
  EXPECT_TRUE(absl::StrContains(fixture.lines[0], "the old ones stay")) << fixture.lines[0];
  EXPECT_TRUE(absl::StrContains(fixture.lines[0], key)) << fixture.lines[0];
  // What is good again is taken.
  fixture.ca.Issue("server");
  EXPECT_NE(fixture.context->Current(kImpatient), first);
}

// By two renames, as deployments do it: in between, key and certificate do not match.
TEST(ReloadingContextTest, APairThatIsReplacedFileByFileIsNoFailure) {
  Fixture fixture(std::chrono::seconds(10));
  const auto first = fixture.context->Current(kStart);
  const std::string certificate = ReadFile(fixture.files().certificate);
  fixture.ca.Issue("server");
  const std::string new_certificate = ReadFile(fixture.files().certificate);
  ReplaceFile(fixture.files().certificate, certificate);
  const TimePoint later = kStart + std::chrono::seconds(10);
  EXPECT_EQ(fixture.context->Current(later), first);
  EXPECT_EQ(fixture.loads, 2);
  ReplaceFile(fixture.files().certificate, new_certificate);
  // Sooner than in an interval.
  EXPECT_EQ(fixture.context->Current(later + std::chrono::milliseconds(900)), first);
  EXPECT_NE(fixture.context->Current(later + std::chrono::seconds(1)), first);
  ASSERT_EQ(fixture.lines.size(), 1u);
  EXPECT_TRUE(absl::StrContains(fixture.lines[0], "new connections use them")) << fixture.lines[0];
}

TEST(ReloadingContextTest, FilesThatChangeAndNeverLoadAreToldOf) {
  Fixture fixture;
  const auto first = fixture.context->Current(kStart);
  TimePoint now = kStart;
  for (int i = 0; i < 12; ++i) {
    ReplaceFile(fixture.files().private_key, std::string(static_cast<size_t>(i), 'x'));
    EXPECT_EQ(fixture.context->Current(now), first);
    EXPECT_EQ(fixture.lines.size(), now < kImpatient ? 0u : 1u);
    now += std::chrono::milliseconds(500);
  }
  ASSERT_EQ(fixture.lines.size(), 1u);
  EXPECT_TRUE(absl::StrContains(fixture.lines[0], "do not load")) << fixture.lines[0];
}

TEST(ReloadingContextTest, WhatFailsForAReasonThatPassesIsTriedAgain) {
  Fixture fixture;
  const auto first = fixture.context->Current(kStart);
  fixture.ca.Issue("server");
  fixture.out_of_descriptors = true;
  EXPECT_EQ(fixture.context->Current(kStart), first);
  fixture.out_of_descriptors = false;
  const TimePoint later = kStart + ReloadingContext::kRetry;
  EXPECT_EQ(fixture.context->Current(later - std::chrono::milliseconds(1)), first);
  EXPECT_EQ(fixture.loads, 2);
  EXPECT_NE(fixture.context->Current(later), first);
  EXPECT_EQ(fixture.loads, 3);
  fixture.context->Current(later + ReloadingContext::kRetry);
  EXPECT_EQ(fixture.loads, 3);
}

TEST(ReloadingContextTest, WhatIsTriedAgainInVainIsNotToldAgain) {
  Fixture fixture;
  fixture.ca.Issue("server");
  fixture.out_of_descriptors = true;
  TimePoint now = kStart;
  for (int i = 0; i < 300; ++i) fixture.context->Current(now += std::chrono::seconds(1));
  EXPECT_EQ(fixture.loads, 1 + 300 / 60);
  EXPECT_EQ(fixture.lines.size(), 1u);
  // Another change, another line.
  fixture.ca.Issue("server");
  for (int i = 0; i < 10; ++i) fixture.context->Current(now += std::chrono::seconds(1));
  EXPECT_EQ(fixture.lines.size(), 2u);
}

TEST(ReloadingContextTest, FilesAreLookedAtOnceAnInterval) {
  Fixture fixture(std::chrono::seconds(10));
  const auto first = fixture.context->Current(kStart);
  fixture.ca.Issue("server");
  EXPECT_EQ(fixture.context->Current(kStart + std::chrono::seconds(9)), first);
  EXPECT_EQ(fixture.loads, 1);
  EXPECT_NE(fixture.context->Current(kStart + std::chrono::seconds(10)), first);
}

TEST(ReloadingContextTest, AFileThatIsGoneIsToldAndTheOldOneStays) {
  Fixture fixture;
  const auto first = fixture.context->Current(kStart);
  ASSERT_EQ(std::remove(fixture.ca.file().c_str()), 0);
  EXPECT_EQ(fixture.context->Current(kStart), fixture.context->Current(kStart));
  EXPECT_NE(first, nullptr);
}

TEST(ReloadingContextTest, WhoCannotLoadAtFirstIsTold) {
  TlsFiles files;
  files.certificate = files.private_key = "/nowhere";
  ServerTlsOptions options;
  options.files = files;
  const auto created = ReloadingContext::Create(
      files, [&] { return LoadServerContext(options); }, nullptr);
  EXPECT_TRUE(absl::IsNotFound(created.status())) << created.status();
}

TEST(ReloadingContextTest, ManyThreadsGetContextsWhileFilesChange) {
  Fixture fixture;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop) EXPECT_NE(fixture.context->Current(kStart), nullptr);
    });
  }
  for (int i = 0; i < 20; ++i) fixture.ca.Issue("server");
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(fixture.context->Current(kStart), nullptr);
}

}  // namespace
}  // namespace farcall
