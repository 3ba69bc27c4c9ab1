// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "transport/base/option_field.h"

namespace farcall {
namespace {

using Change = std::function<void(RdmaOptions&)>;

std::string MessageAfter(const Change& change) {
  RdmaOptions options;
  change(options);
  const absl::Status status = options.Validate();
  if (!status.ok()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  }
  return std::string(status.message());
}

void ExpectRefused(const Change& change, const std::string& text) {
  const std::string message = MessageAfter(change);
  EXPECT_NE(message.find(text), std::string::npos) << "wanted: " << text << "; got: " << message;
}

// A field with inclusive bounds, changed so that no other rule speaks.
template <typename T>
void ExpectBounds(const std::string& name, T RdmaOptions::*field, T low, T high, Change also = {}) {
  const auto set = [&](T value) {
    return [=](RdmaOptions& options) {
      if (also) also(options);
      options.*field = value;
    };
  };
  EXPECT_EQ(MessageAfter(set(low)), "");
  EXPECT_EQ(MessageAfter(set(high)), "");
  const std::string rule = "it must be from " + std::to_string(low) + " to " + std::to_string(high);
  if (low > 0) {
    const auto below = static_cast<T>(low - 1);
    ExpectRefused(set(below), "rdma." + name + " is " + std::to_string(below) + "; " + rule);
  }
  const auto above = static_cast<T>(high + 1);
  ExpectRefused(set(above), "rdma." + name + " is " + std::to_string(above) + "; " + rule);
}

void MakeRoom(RdmaOptions& options) {
  options.shared_receives = kMaxSlots;
  options.completion_queue_depth = 4'194'304;
}
void MakeSmall(RdmaOptions& options) {
  options.receive_slots = 4;
  options.shared_receives = 16;
  options.send_slots = 4;
}

TEST(RdmaOptionsTest, DefaultsAreValid) { EXPECT_TRUE(RdmaOptions().Validate().ok()); }

TEST(RdmaOptionsTest, EveryNumberHasBounds) {
  ExpectBounds<uint32_t>("send_slots", &RdmaOptions::send_slots, 4, 16'384, MakeRoom);
  ExpectBounds<uint32_t>("receive_slots", &RdmaOptions::receive_slots, 4, 16'384, MakeRoom);
  ExpectBounds<uint32_t>("shared_receives", &RdmaOptions::shared_receives, 16, 16'384, MakeSmall);
  ExpectBounds<uint32_t>("completion_queue_depth", &RdmaOptions::completion_queue_depth, 256,
                         4'194'304, MakeSmall);
  ExpectBounds<uint32_t>("max_inline", &RdmaOptions::max_inline, 0, 1024);
  ExpectBounds<uint32_t>("max_send_segments", &RdmaOptions::max_send_segments, 2, 64);
  ExpectBounds<uint8_t>("retry_count", &RdmaOptions::retry_count, 0, 6);
  ExpectBounds<uint8_t>("ack_timeout", &RdmaOptions::ack_timeout, 8, 22);
  ExpectBounds<uint8_t>("rnr_retry", &RdmaOptions::rnr_retry, 0, 7);
  ExpectBounds<uint8_t>("min_rnr_timer", &RdmaOptions::min_rnr_timer, 1, 31);
  EXPECT_EQ(MessageAfter([](RdmaOptions& o) { o.copy_out_below = kReceiveBlock; }), "");
  ExpectRefused([](RdmaOptions& o) { o.copy_out_below = kReceiveBlock + 1; },
                "rdma.copy_out_below is 65537; it must be from 0 to 64 KiB");
}

TEST(RdmaOptionsTest, AddressesAreNumbersWithoutPort) {
  EXPECT_EQ(MessageAfter([](RdmaOptions& o) { o.addresses = {"10.0.0.1", "fd00::1"}; }), "");
  for (const char* const bad : {"", "host", "10.0.0.1:80", "[fd00::1]", "unix:/tmp/x"}) {
    ExpectRefused(
        [=](RdmaOptions& o) {
          o.addresses = {"10.0.0.1", bad};
        },
        "addresses is a list with '" + std::string(bad) + "'");
  }
  EXPECT_EQ(MessageAfter([](RdmaOptions& o) { o.devices = {"mlx5_0"}; }), "");
  ExpectRefused([](RdmaOptions& o) { o.devices = {"mlx5_0", ""}; }, "devices");
}

TEST(RdmaOptionsTest, APartitionKeyIsReadAsTheKernelShowsIt) {
  RdmaOptions options;
  std::vector<OptionField> fields = Fields(options, "rdma.");
  const auto field = std::find_if(fields.begin(), fields.end(), [](const OptionField& one) {
    return one.name == "rdma.partition_key";
  });
  ASSERT_NE(field, fields.end());
  EXPECT_EQ(Text(*field), "first");
  EXPECT_TRUE(SetText(*field, "0x8001").ok());
  EXPECT_EQ(options.partition_key, 0x8001);
  EXPECT_EQ(Text(*field), "0x8001");
  EXPECT_TRUE(SetText(*field, "1").ok());
  EXPECT_EQ(Text(*field), "0x0001");
  for (const char* const bad : {"", "0x10000", "-1", "full", "0x"}) {
    EXPECT_FALSE(SetText(*field, bad).ok()) << bad;
    EXPECT_EQ(options.partition_key, 1);
  }
  EXPECT_TRUE(SetText(*field, "first").ok());
  EXPECT_EQ(options.partition_key, 0);
}

TEST(RdmaOptionsTest, ConnectTimeoutIsBounded) {
  using std::chrono::milliseconds;
  for (const int good : {10, 60'000}) {
    EXPECT_EQ(MessageAfter([=](RdmaOptions& o) { o.connect_timeout = milliseconds(good); }), "");
  }
  for (const int bad : {-1, 0, 9, 60'001}) {
    ExpectRefused([=](RdmaOptions& o) { o.connect_timeout = milliseconds(bad); },
                  "connect_timeout is " + std::to_string(bad));
  }
}

TEST(RdmaOptionsTest, QueuesHoldAtLeastOneConnection) {
  ExpectRefused([](RdmaOptions& o) { o.shared_receives = 63; }, "at least rdma.receive_slots, 64");
  EXPECT_EQ(MessageAfter([](RdmaOptions& o) { o.shared_receives = 64; }), "");
  ExpectRefused([](RdmaOptions& o) { o.completion_queue_depth = 575; },
                "at least rdma.shared_receives + rdma.send_slots, 576");
  EXPECT_EQ(MessageAfter([](RdmaOptions& o) { o.completion_queue_depth = 576; }), "");
}

TEST(RdmaOptionsTest, ConnectionsAreLimitedByCompletionsAndByReceives) {
  RdmaOptions options;
  // 4096 receives make four credits for 1024 connections; the queue would do for more.
  EXPECT_EQ(MaxConnections(options, 32'768, true), 1024u);
  EXPECT_EQ(MaxConnections(options, 4096, true), 4096u / 8);
  EXPECT_EQ(MaxConnections(options, 575, true), 0u);
  EXPECT_EQ(MaxConnections(options, 100, true), 0u);
  EXPECT_EQ(MaxConnections(options, 4096, false), 4096u / 68);
  EXPECT_EQ(MaxConnections(options, 67, false), 0u);
  options.max_shared_receives = 16;
  EXPECT_EQ(MaxConnections(options, 32'768, true), 128u);
}

}  // namespace
}  // namespace farcall
