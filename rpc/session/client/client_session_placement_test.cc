// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of which answers the session lets land in a call's memory, and until when.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "rpc/call/answer_place.h"
#include "rpc/session/client/client_session_testing.h"

namespace farcall {
namespace {

// A call with memory for the attachment of its answer.
class PlacementCall final : public SessionCall {
 public:
  explicit PlacementCall(size_t bytes) : memory(bytes, '.') {
    Buffer all;
    all.AppendUserData(memory.data(), memory.size(), nullptr);
    place_.Set(std::move(all));
  }
  Buffer PlaceFor(size_t size, size_t offset, size_t bytes) override {
    return place_.Lend(this, size, offset, bytes);
  }
  std::shared_ptr<void> HoldPlace() override {
    ++holds;
    return {this, [](PlacementCall* call) { --call->holds; }};
  }
  void OnAnswer(Frame& frame, const Info&) override {
    ++ends;
    attachment = std::move(frame.attachment);
  }
  void OnFailure(int, absl::string_view, bool, const Info&) override { ++ends; }
  void Cancel() override {}

  std::string memory;
  Buffer attachment;
  int ends = 0;
  int holds = 0;

 private:
  AnswerPlace place_;
};

class ClientSessionPlacementTest : public testing::Test {
 protected:
  void Start(PlacementCall& call, uint64_t id) {
    client_.world.loop->RunOrPost(
        [&] { client_.session->Start(call, id, TimePoint::max(), "request", Buffer()); });
    if (wire_ == nullptr) wire_ = client_.world.transport.Succeed();
  }
  static std::string Answer(uint64_t id, const std::string& payload, const std::string& attachment,
                            int code = 0) {
    wire::RpcMeta meta;
    meta.mutable_response()->set_error_code(code);
    meta.set_correlation_id(static_cast<int64_t>(id));
    const Buffer body((absl::string_view(payload)));
    const auto encoder = FrameEncoder::Create(meta, body, attachment.size());
    std::string frame(encoder->head_size(), '\0');
    encoder->WriteTo(frame.data());
    return frame + payload + attachment;
  }
  void Deliver(const std::string& bytes, size_t step) {
    for (size_t at = 0; at < bytes.size(); at += step) wire_->Deliver(bytes.substr(at, step));
    client_.world.Run();
  }

  TestSessionClient client_;
  std::shared_ptr<FakeWire> wire_;
};

TEST_F(ClientSessionPlacementTest, WhateverTheCutsAllBytesComeToTheirPlace) {
  const std::string attachment = "the attachment of an answer";
  const std::string answer = Answer(1, "payload", attachment);
  for (size_t step = 1; step <= answer.size(); ++step) {
    PlacementCall call(40);
    Start(call, 1);
    wire_->landed = 0;
    Deliver(answer, step);
    EXPECT_EQ(call.ends, 1);
    EXPECT_EQ(call.attachment.ToString(), attachment);
    // All that came after the read in which the meta ended.
    EXPECT_EQ(call.memory.substr(attachment.size() - wire_->landed, wire_->landed),
              attachment.substr(attachment.size() - wire_->landed));
    if (step == 1) {
      EXPECT_EQ(wire_->landed, attachment.size());
    }
    if (step == answer.size()) {
      EXPECT_EQ(wire_->landed, 0u);
    }
  }
}

TEST_F(ClientSessionPlacementTest, TheHeadIsAwaitedBeforeTheAttachment) {
  PlacementCall call(100);
  Start(call, 1);
  const std::string answer = Answer(1, std::string(50, 'p'), std::string(100, 'a'));
  size_t needed = 0;
  client_.world.loop->RunOrPost([&] {
    wire_->input.Append(absl::string_view(answer).substr(0, answer.size() - 140));
    needed = client_.session->OnRead(wire_->input);
  });
  EXPECT_EQ(needed, answer.size() - 100);
  client_.world.loop->RunOrPost([&] {
    wire_->input.Append(absl::string_view(answer).substr(answer.size() - 140, 40));
    needed = client_.session->OnRead(wire_->input);
  });
  EXPECT_EQ(needed, answer.size());
  Deliver(answer.substr(answer.size() - 100), 100);
  EXPECT_EQ(wire_->landed, 100u);
  EXPECT_EQ(call.memory, std::string(100, 'a'));
}

TEST_F(ClientSessionPlacementTest, ErrorsAndWhatIsTooLongDoNotLand) {
  for (const bool error : {false, true}) {
    PlacementCall call(error ? 10 : 9);
    Start(call, 1);
    wire_->landed = 0;
    Deliver(Answer(1, "", "0123456789", error ? 42 : 0), 1);
    EXPECT_EQ(call.ends, 1);
    EXPECT_EQ(wire_->landed, 0u);
    EXPECT_EQ(call.memory, std::string(call.memory.size(), '.'));
  }
}

TEST_F(ClientSessionPlacementTest, OnceACallHasEndedItsMemoryIsNotWritten) {
  PlacementCall call(10);
  PlacementCall other(10);
  Start(call, 1);
  Start(other, 2);
  const std::string answer = Answer(1, "", "0123456789");
  Deliver(answer.substr(0, answer.size() - 6), 1);
  EXPECT_EQ(call.memory, "0123......");
  client_.world.loop->RunOrPost([&] { client_.session->Forget(1); });
  call.memory = "its owner's";
  Deliver(answer.substr(answer.size() - 6), 1);
  Deliver(Answer(2, "", "abcd"), 1);
  EXPECT_EQ(call.memory, "its owner's");
  EXPECT_EQ(call.ends, 0);
  EXPECT_EQ(other.memory, "abcd......");
  EXPECT_EQ(other.attachment.ToString(), "abcd");
}

TEST_F(ClientSessionPlacementTest, AnswersOneAfterTheOtherLandEachInItsOwn) {
  PlacementCall first(4);
  PlacementCall second(4);
  Start(first, 1);
  Start(second, 2);
  Deliver(Answer(2, "x", "2222") + Answer(7, "y", "to no call") + Answer(1, "z", "1111"), 1);
  EXPECT_EQ(first.memory, "1111");
  EXPECT_EQ(second.memory, "2222");
  EXPECT_EQ(wire_->landed, 8u);
}

// The frame is refused once it is whole; until then nothing may be believed.
TEST_F(ClientSessionPlacementTest, ASizeThatCannotBeDoesNotLand) {
  for (const int32_t size : {-1, 1000}) {
    PlacementCall call(2000);
    Start(call, 1);
    wire::RpcMeta meta;
    meta.mutable_response();
    meta.set_correlation_id(1);
    const Buffer body(absl::string_view("payload"));
    auto encoder = FrameEncoder::Create(meta, body, 0);
    meta.set_attachment_size(size);
    encoder = FrameEncoder::Create(meta, body, 10);
    std::string frame(encoder->head_size(), '\0');
    encoder->WriteTo(frame.data());
    // FrameEncoder tells the truth: the lie is put in its place.
    const auto lie = static_cast<char>(size < 0 ? 127 : 99);
    const size_t at = frame.rfind('\x0a');
    ASSERT_NE(at, std::string::npos);
    frame[at] = lie;
    Deliver(frame + "payload" + std::string(9, 'a'), 1);
    EXPECT_EQ(call.memory, std::string(2000, '.'));
    client_.world.loop->RunOrPost([&] { client_.session->Forget(1); });
    wire_->End(absl::UnavailableError("closed by peer"));
    client_.world.Run();
    wire_ = nullptr;
  }
}

// Whoever ends the call: its memory is what a device may still write to.
TEST_F(ClientSessionPlacementTest, TheSessionLivesUntilNothingIsWrittenForItsCalls) {
  PlacementCall call(10);
  Start(call, 1);
  const std::string answer = Answer(1, "", "0123456789");
  Deliver(answer.substr(0, answer.size() - 6), 1);
  std::shared_ptr<void> hold;
  client_.world.loop->RunOrPost([&] { hold = client_.session->HoldPlace(); });
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(call.holds, 1);
  client_.world.loop->RunOrPost([&] { client_.session->Forget(1); });
  const auto users = client_.session.use_count();
  client_.world.loop->RunOrPost([&] {
    EXPECT_EQ(client_.session->HoldPlace(), nullptr) << "of no call any more";
    hold = nullptr;
  });
  EXPECT_EQ(call.holds, 0);
  EXPECT_EQ(client_.session.use_count(), users - 1) << "the hold was one";
}

}  // namespace
}  // namespace farcall
