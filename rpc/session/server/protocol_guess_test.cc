// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/protocol_guess.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

TEST(ProtocolGuessTest, KnowsFramesByTheirMagic) {
  EXPECT_EQ(GuessProtocol("PRPC"), ProtocolGuess::kFrames);
  EXPECT_EQ(GuessProtocol(absl::string_view("PRPC\0\0\0\1", 8)), ProtocolGuess::kFrames);
}

TEST(ProtocolGuessTest, WaitsForWhatMayBecomeAFrame) {
  for (const char* front : {"P", "PR", "PRP"}) {
    EXPECT_EQ(GuessProtocol(front), ProtocolGuess::kTooFewBytes) << front;
  }
}

TEST(ProtocolGuessTest, KnowsHttpByItsMethods) {
  for (const char* front : {"GET / HT", "G", "POST /Ec", "PO", "PUT /x", "HEAD / H", "DELETE /",
                            "OPTIONS ", "PATCH /x", "TRACE / ", "CONNECT ", "PRI * HT", "PRI "}) {
    EXPECT_EQ(GuessProtocol(front), ProtocolGuess::kHttp) << front;
  }
}

TEST(ProtocolGuessTest, KnowsTheHellosOfBrpc) {
  EXPECT_EQ(GuessProtocol(absl::string_view("RDMA\0\x28\0\2", 8)), ProtocolGuess::kBrpcRdma);
  EXPECT_EQ(GuessProtocol("RDM3"), ProtocolGuess::kBrpcRdma);
  for (const char* front : {"R", "RD", "RDM"}) {
    EXPECT_EQ(GuessProtocol(front), ProtocolGuess::kTooFewBytes) << front;
  }
}

TEST(ProtocolGuessTest, TheRestIsUnknown) {
  for (const char* front : {"get / ht", "GETS", "PRPQ", "PRX", "RDM2", "RDMa", "RDX",
                            "\x16\x03\x01", "SSH-2.0", " GET /"}) {
    EXPECT_EQ(GuessProtocol(front), ProtocolGuess::kUnknown) << front;
  }
}

TEST(ProtocolGuessTest, MoreBytesNeverChangeAnAnswer) {
  for (const absl::string_view whole :
       {"PRPC1234", "RDMA1234", "RDM31234", "GET /abc", "POST / H", "PRI * HT", "PUT / HT"}) {
    const ProtocolGuess last = GuessProtocol(whole);
    for (size_t size = 1; size < whole.size(); ++size) {
      const ProtocolGuess guess = GuessProtocol(whole.substr(0, size));
      EXPECT_TRUE(guess == last || guess == ProtocolGuess::kTooFewBytes) << whole << " " << size;
    }
  }
}

}  // namespace
}  // namespace farcall
