// SPDX-License-Identifier: Apache-2.0

#include "rpc/controller.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "rpc/controller_testing.h"

namespace farcall {
namespace {

std::shared_ptr<const ConnectionInfo> SomeConnection() {
  auto info = std::make_shared<ConnectionInfo>();
  info->local = Address::Ipv4({127, 0, 0, 1}, 40000);
  info->peer = Address::Ipv4({10, 0, 0, 7}, 8002);
  return info;
}

// Reading them makes none.
void ExpectNoExtras(const Controller& controller) {
  EXPECT_EQ(controller.overrides(), nullptr);
  EXPECT_EQ(controller.request_id(), "");
  EXPECT_TRUE(controller.request_user_fields().empty());
  EXPECT_TRUE(controller.response_user_fields().empty());
  EXPECT_EQ(controller.response_compress_type(), std::nullopt);
  EXPECT_EQ(controller.response_checksum_type(), std::nullopt);
  EXPECT_EQ(controller.auth_context(), nullptr);
  EXPECT_FALSE(controller.has_extras());
}

TEST(ControllerTest, BeginsWithNothingSet) {
  Controller controller;
  EXPECT_FALSE(controller.Failed());
  EXPECT_EQ(controller.ErrorCode(), 0);
  EXPECT_EQ(controller.ErrorText(), "");
  EXPECT_TRUE(controller.status().ok());
  EXPECT_EQ(controller.timeout_ms(), Controller::kNotSet);
  EXPECT_EQ(controller.deadline(), TimePoint::max());
  EXPECT_EQ(controller.log_id(), 0);
  EXPECT_EQ(controller.latency_us(), 0);
  EXPECT_EQ(controller.connection(), nullptr);
  EXPECT_EQ(controller.remote_side(), "");
  EXPECT_EQ(controller.local_side(), "");
  EXPECT_FALSE(controller.IsCanceled());
  ExpectNoExtras(controller);
}

TEST(ControllerTest, SetFailedTakesCodeAndText) {
  Controller controller;
  controller.SetFailed(ENOSPC, "the disk is full");
  EXPECT_TRUE(controller.Failed());
  EXPECT_EQ(controller.ErrorCode(), ENOSPC);
  EXPECT_EQ(controller.ErrorText(), "the disk is full");
  controller.SetFailed(-3, "");
  EXPECT_TRUE(controller.Failed());
  EXPECT_EQ(controller.ErrorCode(), -3);
}

TEST(ControllerTest, SetFailedIsAFailureWhateverTheCode) {
  Controller controller;
  controller.SetFailed(0, "no success");
  EXPECT_EQ(controller.ErrorCode(), kInternal);
  EXPECT_EQ(controller.ErrorText(), "no success");

  Controller by_text;
  static_cast<google::protobuf::RpcController&>(by_text).SetFailed("as protobuf has it");
  EXPECT_EQ(by_text.ErrorCode(), kInternal);
  EXPECT_EQ(by_text.ErrorText(), "as protobuf has it");
}

TEST(ControllerTest, StatusIsThatOfTheErrorWithNameAndNumber) {
  Controller controller;
  controller.SetFailed(kRpcTimedOut, "too late");
  EXPECT_EQ(controller.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(controller.status().message(), "ERPCTIMEDOUT (1008): too late");
}

TEST(ControllerTest, ResetIsAsNew) {
  Controller controller;
  const auto calls = std::make_shared<CancelledCalls>();
  ASSERT_TRUE(controller.Begin(calls.get(), 1));
  controller.request_attachment() = Buffer("request");
  controller.response_attachment() = Buffer("response");
  controller.set_log_id(9);
  controller.set_timeout_ms(9);
  controller.set_max_retry(9);
  controller.set_request_id("nine");
  controller.request_user_fields().Set("key", "of the request");
  controller.response_user_fields().Set("key", "of the response");
  controller.set_response_compress_type(COMPRESS_TYPE_SNAPPY);
  controller.set_response_checksum_type(CHECKSUM_TYPE_CRC32C);
  controller.set_auth_context(std::make_shared<AuthContext>());
  controller.set_deadline(TimePoint());
  controller.set_connection(SomeConnection());
  controller.StartCancel();
  controller.End(ECANCELED, "cancelled", 9);

  controller.Reset();
  EXPECT_FALSE(controller.Failed());
  EXPECT_EQ(controller.ErrorText(), "");
  EXPECT_TRUE(controller.request_attachment().empty());
  EXPECT_TRUE(controller.response_attachment().empty());
  EXPECT_EQ(controller.log_id(), 0);
  EXPECT_EQ(controller.timeout_ms(), Controller::kNotSet);
  ExpectNoExtras(controller);
  EXPECT_EQ(controller.deadline(), TimePoint::max());
  EXPECT_EQ(controller.latency_us(), 0);
  EXPECT_EQ(controller.connection(), nullptr);
  EXPECT_FALSE(controller.IsCanceled());
  EXPECT_TRUE(controller.Begin(calls.get(), 2));
  controller.End(0, "", 0);
}

TEST(ControllerTest, ACallBeginsWithoutTheOutcomeOfTheLast) {
  Controller controller;
  controller.SetFailed(ENOENT, "the last");
  controller.response_user_fields().Set("key", "of the last");
  controller.set_request_id("of each");
  controller.response_attachment() = Buffer("the last");
  controller.request_attachment() = Buffer("for this one");
  ASSERT_TRUE(controller.Begin(nullptr, 0));
  EXPECT_FALSE(controller.Failed());
  EXPECT_EQ(controller.ErrorText(), "");
  EXPECT_TRUE(controller.response_user_fields().empty());
  EXPECT_EQ(controller.request_id(), "of each");
  EXPECT_TRUE(controller.response_attachment().empty());
  EXPECT_EQ(controller.request_attachment().ToString(), "for this one");
  controller.End(0, "not looked at", 1234);
  EXPECT_FALSE(controller.Failed());
  EXPECT_EQ(controller.latency_us(), 1234);
}

TEST(ControllerTest, TheSidesOfTheConnectionAreTold) {
  Controller controller;
  controller.set_connection(SomeConnection());
  EXPECT_EQ(controller.remote_side(), "10.0.0.7:8002");
  EXPECT_EQ(controller.local_side(), "127.0.0.1:40000");
}

}  // namespace
}  // namespace farcall
