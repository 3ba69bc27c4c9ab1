// SPDX-License-Identifier: Apache-2.0

#include "rpc/options.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/interceptor.h"

namespace farcall {
namespace {

// `member` of `Options` may be from `low` to `high` and nothing else; the error names it, its
// bounds and its value.
template <typename Options, typename Number>
void ExpectBounds(Number Options::*member, const char* name, Number low, Number high) {
  SCOPED_TRACE(name);
  const auto validate = [&](Number value) {
    Options options;
    options.*member = value;
    return options.Validate();
  };
  EXPECT_TRUE(validate(low).ok()) << validate(low);
  EXPECT_TRUE(validate(high).ok()) << validate(high);
  const auto expect_error = [&](Number value) {
    const absl::Status status = validate(value);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_EQ(status.message(),
              absl::StrCat(name, " must be ", low, " to ", high, ", not ", value));
  };
  if (low > std::numeric_limits<Number>::min()) expect_error(static_cast<Number>(low - 1));
  if (high < std::numeric_limits<Number>::max()) {
    expect_error(static_cast<Number>(high + 1));
    expect_error(std::numeric_limits<Number>::max());
  }
}

TEST(OptionsTest, DefaultsAreValid) {
  EXPECT_TRUE(RuntimeOptions().Validate().ok());
  EXPECT_TRUE(ChannelOptions().Validate().ok());
  EXPECT_TRUE(ServerOptions().Validate().ok());
}

TEST(OptionsTest, RuntimeBounds) {
  const auto message_with = [](int RuntimeOptions::*member, int value) {
    RuntimeOptions options;
    options.*member = value;
    return std::string(options.Validate().message());
  };
  for (const int good : {0, 1, 256})
    EXPECT_EQ(message_with(&RuntimeOptions::event_loops, good), "");
  for (const int bad : {-1, 257, INT_MAX}) {
    EXPECT_EQ(message_with(&RuntimeOptions::event_loops, bad),
              absl::StrCat("event_loops is ", bad, "; it must be from 1 to 256, or default (0)"));
  }
  for (const int good : {1, 1024}) {
    EXPECT_EQ(message_with(&RuntimeOptions::max_blocked_threads, good), "");
  }
  for (const int bad : {0, 1025}) {
    EXPECT_EQ(message_with(&RuntimeOptions::max_blocked_threads, bad),
              absl::StrCat("max_blocked_threads is ", bad, "; it must be from 1 to 1024"));
  }
  for (const int bad : {-1, 256}) {
    EXPECT_EQ(message_with(&RuntimeOptions::traffic_class, bad),
              absl::StrCat("traffic_class must be 0 to 255, not ", bad));
  }
}

TEST(OptionsTest, AnInterceptorIsNotNull) {
  class Passes final : public ClientInterceptor {
    bool OnCall(const google::protobuf::MethodDescriptor&, Controller&,
                const google::protobuf::Message&) override {
      return true;
    }
  };
  ChannelOptions channel;
  channel.interceptors = {std::make_shared<Passes>()};
  EXPECT_TRUE(channel.Validate().ok()) << channel.Validate();
  channel.interceptors.push_back(nullptr);
  EXPECT_EQ(channel.Validate(), absl::InvalidArgumentError("interceptors[1] is null"));
  ServerOptions server;
  server.interceptors = {nullptr};
  EXPECT_EQ(server.Validate(), absl::InvalidArgumentError("interceptors[0] is null"));
}

TEST(OptionsTest, RuntimePartsAreValidatedToo) {
  RuntimeOptions polling;
  polling.polling.spin = std::chrono::seconds(1);
  EXPECT_TRUE(absl::StrContains(polling.Validate().message(), "polling.spin"));
  RuntimeOptions pool;
  pool.pool.region_bytes = 1;
  EXPECT_TRUE(absl::StrContains(pool.Validate().message(), "region_bytes"));
}

TEST(OptionsTest, ChannelBounds) {
  ExpectBounds(&ChannelOptions::connect_timeout_ms, "connect_timeout_ms", int64_t{1},
               int64_t{60'000});
  ExpectBounds(&ChannelOptions::max_body_size, "max_body_size", size_t{1024}, size_t{UINT32_MAX});
  ExpectBounds(&ChannelOptions::max_backlog, "max_backlog", size_t{65536}, size_t{SIZE_MAX});
  ExpectBounds(&ChannelOptions::max_pending_calls, "max_pending_calls", 1, 1'000'000);
  ExpectBounds(&ChannelOptions::traffic_class, "traffic_class", -1, 255);
}

TEST(OptionsTest, PooledConnectionsAreIdleForMillisecondsOrForEver) {
  for (const int64_t good : {int64_t{-1}, int64_t{1}, int64_t{86'400'000}}) {
    ChannelOptions options;
    options.pooled_idle_timeout_ms = good;
    EXPECT_TRUE(options.Validate().ok()) << good;
  }
  for (const int64_t bad : {int64_t{-2}, int64_t{0}, int64_t{86'400'001}}) {
    ChannelOptions options;
    options.pooled_idle_timeout_ms = bad;
    EXPECT_TRUE(absl::StrContains(options.Validate().message(), "pooled_idle_timeout_ms")) << bad;
  }
}

TEST(OptionsTest, ATimeoutIsANumberOfMillisecondsOrNone) {
  for (const int64_t good : {int64_t{-1}, int64_t{1}, int64_t{500}, int64_t{INT32_MAX}}) {
    ChannelOptions options;
    options.timeout_ms = good;
    EXPECT_TRUE(options.Validate().ok()) << good;
  }
  for (const int64_t bad : {int64_t{0}, int64_t{-2}, int64_t{INT32_MAX} + 1, INT64_MIN}) {
    ChannelOptions options;
    options.timeout_ms = bad;
    EXPECT_EQ(options.Validate().message(),
              absl::StrCat("timeout_ms must be 1 to 2147483647, or -1 for none, not ", bad));
  }
}

TEST(OptionsTest, ServerBounds) {
  ExpectBounds(&ServerOptions::handler_threads, "handler_threads", -1, 1024);
  ExpectBounds(&ServerOptions::max_concurrency_per_connection, "max_concurrency_per_connection", 1,
               1'000'000);
  ExpectBounds(&ServerOptions::max_body_size, "max_body_size", size_t{1024}, size_t{UINT32_MAX});
  ExpectBounds(&ServerOptions::traffic_class, "traffic_class", -1, 255);
}

TEST(OptionsTest, HandlersOnThePoolWantThreads) {
  ServerOptions options;
  options.handlers_on_pool = true;
  EXPECT_TRUE(options.Validate().ok());
  options.handler_threads = 0;
  EXPECT_TRUE(absl::StartsWith(options.Validate().message(), "handlers_on_pool"));
}

TEST(OptionsTest, TheFirstErrorIsTold) {
  ServerOptions options;
  options.handler_threads = -2;
  options.traffic_class = 256;
  EXPECT_TRUE(absl::StartsWith(options.Validate().message(), "handler_threads"));
}

}  // namespace
}  // namespace farcall
