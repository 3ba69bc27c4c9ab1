// SPDX-License-Identifier: Apache-2.0
//
// What is too large for one of the two ends: it fails one call, and none beside it.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "rpc/session/client/client_session_testing.h"

namespace farcall {
namespace {

using Call = TestSessionCall;

// An answer of the server that it takes `limit` bytes at most.
std::string TooLarge(uint64_t id, uint64_t limit) {
  wire::RpcMeta meta;
  meta.mutable_response()->set_error_code(kBadRequest);
  meta.mutable_response()->set_max_body_size(limit);
  meta.set_correlation_id(static_cast<int64_t>(id));
  return FrameOf(meta);
}

class ClientSessionOversizedTest : public ::testing::Test {
 protected:
  static ChannelOptions SmallAnswers() {
    ChannelOptions options;
    options.max_body_size = 1024;
    return options;
  }
  // A request of so many bytes behind its header.
  void StartOf(Call& call, uint64_t id, size_t bytes) {
    client_.world.loop->RunOrPost([&] {
      const std::string frame(kFrameHeaderSize + bytes, 'r');
      client_.session->Start(call, id, TimePoint::max(), frame, Buffer());
    });
  }
  static std::string AnswerOf(uint64_t id, size_t bytes) {
    wire::RpcMeta meta;
    meta.mutable_response()->set_error_code(0);
    meta.set_correlation_id(static_cast<int64_t>(id));
    const auto encoder = FrameEncoder::Create(meta, nullptr, bytes);
    std::string frame(encoder->head_size(), '\0');
    encoder->WriteTo(frame.data());
    return frame + std::string(bytes, 'a');
  }

  TestSessionClient client_{SmallAnswers()};
  std::shared_ptr<FakeWire> wire_;
};

TEST_F(ClientSessionOversizedTest, ALimitOnceToldIsKept) {
  Call& first = client_.Start();
  const auto wire = client_.world.transport.Succeed();
  Call before;
  StartOf(before, 50, 3000);
  EXPECT_EQ(before.ends, 0) << "its meta has not come yet";
  wire->written.Clear();
  wire->Deliver(TooLarge(first.id(), 2000));
  client_.world.Run();
  EXPECT_EQ(first.ends, 1);

  Call large;
  StartOf(large, 51, 2001);
  EXPECT_EQ(large.ends, 1);
  EXPECT_EQ(large.code, kBadRequest);
  EXPECT_FALSE(large.may_have_run);
  EXPECT_EQ(large.text,
            "the request has 2001 bytes, and 192.0.2.1:80 takes at most 2000 (its max_body_size): "
            "send less at once, or raise the limit there");
  EXPECT_TRUE(wire->written.empty()) << "it was not sent";
  Call fits;
  StartOf(fits, 52, 2000);
  EXPECT_EQ(wire->written.size(), kFrameHeaderSize + 2000);
  wire->Deliver(TestSessionClient::Answer(50) + TestSessionClient::Answer(52));
  client_.world.Run();
  EXPECT_EQ(before.code, 0);
  EXPECT_EQ(fits.code, 0);
}

// Another server may be there, or the same one with other options.
TEST_F(ClientSessionOversizedTest, ALimitIsOfItsConnection) {
  Call& first = client_.Start();
  const auto wire = client_.world.transport.Succeed();
  wire->Deliver(TooLarge(first.id(), 10));
  wire->End(absl::UnavailableError("closed by peer"));
  client_.world.Run();
  Call large;
  StartOf(large, 51, 2001);
  const auto next = client_.world.transport.Succeed();
  EXPECT_EQ(next->written.size(), kFrameHeaderSize + 2001);
  next->Deliver(TestSessionClient::Answer(51));
  client_.world.Run();
  EXPECT_EQ(large.code, 0);
}

TEST_F(ClientSessionOversizedTest, AnAnswerThatIsTooLargeFailsItsOwnCallAlone) {
  for (const size_t step : {size_t{1}, size_t{500}, size_t{10'000}}) {
    SCOPED_TRACE(step);
    Call& first = client_.Start();
    Call& large = client_.Start();
    Call& last = client_.Start();
    if (wire_ == nullptr) wire_ = client_.world.transport.Succeed();
    const std::string bytes =
        AnswerOf(first.id(), 100) + AnswerOf(large.id(), 5000) + AnswerOf(last.id(), 100);
    for (size_t at = 0; at < bytes.size(); at += step) {
      wire_->Deliver(bytes.substr(at, step));
      EXPECT_LE(wire_->input.size(), 1100 + step) << "none of it is kept";
    }
    client_.world.Run();
    EXPECT_EQ(first.code, 0);
    EXPECT_EQ(large.ends, 1);
    EXPECT_EQ(large.code, kBadResponse);
    EXPECT_TRUE(absl::StrContains(large.text, " bytes, over max_body_size of this channel, 1024"))
        << large.text;
    EXPECT_EQ(last.ends, 1);
    EXPECT_EQ(last.code, 0) << last.text;
    EXPECT_EQ(client_.watcher.unreachable, 0);
  }
}

TEST_F(ClientSessionOversizedTest, WhoseAnswerItIsMayBeNobodys) {
  Call& call = client_.Start();
  const auto wire = client_.world.transport.Succeed();
  wire->Deliver(AnswerOf(0, 5000) + AnswerOf(99, 5000) + AnswerOf(call.id(), 10));
  client_.world.Run();
  EXPECT_EQ(call.code, 0) << call.text;
}

TEST_F(ClientSessionOversizedTest, OneThatIsNotWorthReadingClosesTheConnection) {
  Call& large = client_.Start();
  Call& other = client_.Start();
  const auto wire = client_.world.transport.Succeed();
  std::string bytes = AnswerOf(large.id(), 10);
  bytes[4] = 0x40;  // a body of 1 GiB
  wire->Deliver(bytes);
  client_.world.Run();
  EXPECT_EQ(large.code, kBadResponse);
  EXPECT_EQ(other.code, kFailedSocket);
  EXPECT_TRUE(absl::StrContains(other.text, "bad answer from 192.0.2.1:80: the response has 10737"))
      << other.text;
  EXPECT_TRUE(wire->destroyed);
}

TEST_F(ClientSessionOversizedTest, AConnectionThatBreaksAmidstItFailsTheOthers) {
  Call& large = client_.Start();
  Call& next = client_.Start();
  const auto wire = client_.world.transport.Succeed();
  const std::string bytes = AnswerOf(large.id(), 5000);
  wire->Deliver(bytes.substr(0, 100));
  wire->End(absl::UnavailableError("closed by peer"));
  client_.world.Run();
  EXPECT_EQ(large.ends, 1);
  EXPECT_EQ(next.ends, 1);
  EXPECT_EQ(next.code, kFailedSocket);
}

}  // namespace
}  // namespace farcall
