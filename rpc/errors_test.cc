// SPDX-License-Identifier: Apache-2.0

#include "rpc/errors.h"

#include <cerrno>
#include <climits>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(ErrorsTest, NumbersAndNamesAreThoseOfBrpc) {
  struct {
    RpcError error;
    int number;
    const char* name;
  } const expected[] = {
      {kNoService, 1001, "ENOSERVICE"},
      {kNoMethod, 1002, "ENOMETHOD"},
      {kBadRequest, 1003, "EREQUEST"},
      {kAuthFailed, 1004, "ERPCAUTH"},
      {kTooManyFails, 1005, "ETOOMANYFAILS"},
      {kBackupRequest, 1007, "EBACKUPREQUEST"},
      {kRpcTimedOut, 1008, "ERPCTIMEDOUT"},
      {kFailedSocket, 1009, "EFAILEDSOCKET"},
      {kHttp, 1010, "EHTTP"},
      {kOvercrowded, 1011, "EOVERCROWDED"},
      {kEof, 1014, "EEOF"},
      {kSsl, 1016, "ESSL"},
      {kRejected, 1018, "EREJECT"},
      {kInternal, 2001, "EINTERNAL"},
      {kBadResponse, 2002, "ERESPONSE"},
      {kLogoff, 2003, "ELOGOFF"},
      {kLimit, 2004, "ELIMIT"},
      {kClosed, 2005, "ECLOSE"},
      {kRdma, 3001, "ERDMA"},
      {kRdmaMemory, 3002, "ERDMAMEM"},
  };
  for (const auto& [error, number, name] : expected) {
    EXPECT_EQ(error, number);
    EXPECT_STREQ(ErrorName(error), name);
    EXPECT_NE(ToStatusCode(error), absl::StatusCode::kOk) << name;
  }
}

TEST(ErrorsTest, NumbersBelowThousandAreErrnos) {
  EXPECT_STREQ(ErrorName(ECONNREFUSED), "ECONNREFUSED");
  EXPECT_STREQ(ErrorName(ETIMEDOUT), "ETIMEDOUT");
  EXPECT_STREQ(ErrorName(ECANCELED), "ECANCELED");
  EXPECT_EQ(ToStatusCode(ECONNREFUSED), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ToStatusCode(ECONNRESET), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ToStatusCode(EHOSTUNREACH), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ToStatusCode(ETIMEDOUT), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ToStatusCode(ECANCELED), absl::StatusCode::kCancelled);
  EXPECT_EQ(ToStatusCode(EINVAL), absl::StatusCode::kInvalidArgument);
}

TEST(ErrorsTest, AnyOtherNumberIsUnknownAndNeverSuccess) {
  for (const int code : {999, 1000, 1006, 1234, 5000, -1, INT_MAX, INT_MIN}) {
    EXPECT_STREQ(ErrorName(code), "UNKNOWN") << code;
    EXPECT_EQ(ToStatusCode(code), absl::StatusCode::kUnknown) << code;
    EXPECT_FALSE(ToStatus(code, "text").ok()) << code;
  }
}

TEST(ErrorsTest, EveryErrnoNumberHasANameAndIsNoSuccess) {
  for (int code = 1; code < 1000; ++code) {
    EXPECT_NE(ErrorName(code), nullptr) << code;
    EXPECT_NE(ToStatusCode(code), absl::StatusCode::kOk) << code;
  }
}

TEST(ErrorsTest, StatusTellsNameNumberAndText) {
  const absl::Status status = ToStatus(kNoMethod, "EchoService has no method Ecko");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "ENOMETHOD (1002): EchoService has no method Ecko");
  EXPECT_EQ(ToStatus(kLimit, "").message(), "ELIMIT (2004)");
  EXPECT_EQ(ToStatus(1234, "mine").message(), "UNKNOWN (1234): mine");
}

TEST(ErrorsTest, ZeroIsSuccessWhateverTheText) {
  EXPECT_STREQ(ErrorName(0), "OK");
  EXPECT_TRUE(ToStatus(0, "").ok());
  EXPECT_TRUE(ToStatus(0, "ignored").ok());
}

}  // namespace
}  // namespace farcall
