// SPDX-License-Identifier: Apache-2.0
//
// The memory that a caller sets for the attachment of its response.

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "rpc/call/client_call_testing.h"

namespace farcall {
namespace {

TEST_F(ClientCallTest, AnAttachmentComesToLieInTheMemorySetForIt) {
  std::string memory(8, '.');
  Buffer place;
  place.AppendUserData(memory.data(), memory.size(), nullptr);
  controller_.set_response_attachment_memory(std::move(place));
  Answer(Message("hello", "beside"));
  EXPECT_FALSE(controller_.Failed()) << controller_.ErrorText();
  EXPECT_EQ(memory, "beside..");
  EXPECT_EQ(controller_.response_attachment().ToString(), "beside");
  EXPECT_EQ(controller_.response_attachment().slices()[0].view().data(), memory.data());
  EXPECT_EQ(copied_.Sum()[CopyCause::kNotLanded], 6u);
  // It was for one call.
  Answer(Message("hello", "else"));
  EXPECT_EQ(memory, "beside..");
}

// Whatever ended it.
TEST_F(ClientCallTest, ACallCompletesWhenNoDeviceWritesToItsMemoryAnyMore) {
  class HeldCall final : public ClientCall {
   public:
    using ClientCall::ClientCall;
    std::shared_ptr<void> Hold() {
      place()->Lend(this, 4, 0, 4);
      return HoldPlace();
    }
  };
  std::string memory(8, '.');
  Buffer lent;
  lent.AppendUserData(memory.data(), memory.size(), nullptr);
  controller_.set_response_attachment_memory(std::move(lent));
  int done = 0;
  auto* const call =
      new HeldCall(environment_, Method(), controller_, &response_, NewClosure([&] { ++done; }));
  EXPECT_TRUE(call->AskInterceptors(response_));
  std::shared_ptr<void> first;
  std::shared_ptr<void> second;
  loop_->RunOrPost([&] {
    first = call->Hold();
    second = call->Hold();
    call->Fail(ECANCELED, "enough");
    call->Complete(*loop_);
    first = nullptr;
  });
  loop_->RunOnce();
  EXPECT_EQ(done, 0);
  loop_->RunOrPost([&] { second = nullptr; });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(done, 1);
  EXPECT_EQ(controller_.ErrorCode(), ECANCELED);
}

TEST_F(ClientCallTest, AnAttachmentThatIsLongerThanItsMemoryFailsTheCall) {
  std::string memory(5, '.');
  int released = 0;
  Buffer place;
  place.AppendUserData(memory.data(), memory.size(), [&] { ++released; });
  controller_.set_response_attachment_memory(std::move(place));
  Answer(Message("hello", "beside"));
  EXPECT_EQ(controller_.ErrorCode(), kBadResponse);
  EXPECT_EQ(controller_.ErrorText(),
            "the response's attachment has 6 bytes, and the memory set for it only 5");
  EXPECT_TRUE(controller_.response_attachment().empty());
  EXPECT_EQ(memory, ".....");
  EXPECT_EQ(released, 1);
}

TEST_F(ClientCallTest, AnAttachmentWithAWrongChecksumIsNotCopied) {
  std::string memory(8, '.');
  Buffer place;
  place.AppendUserData(memory.data(), memory.size(), nullptr);
  controller_.set_response_attachment_memory(std::move(place));
  Frame frame = Response("", "beside");
  EchoMessage message;
  message.set_message("hello");
  frame.payload = *Pack(message, {COMPRESS_TYPE_NONE, CHECKSUM_TYPE_CRC32C}, frame.attachment,
                        *pool_, frame.meta);
  frame.attachment = Buffer(absl::string_view("besides"));
  Answer(std::move(frame));
  EXPECT_EQ(controller_.ErrorCode(), kBadResponse);
  EXPECT_EQ(memory, "........");
}

TEST_F(ClientCallTest, MemoryOfACallThatFailedIsLetGoWhenItEnds) {
  int released = 0;
  char byte = 'x';
  Buffer place;
  place.AppendUserData(&byte, 1, [&] { ++released; });
  controller_.set_response_attachment_memory(std::move(place));
  Frame frame = Message("", "y");
  frame.meta.mutable_response()->set_error_code(42);
  Answer(std::move(frame));
  EXPECT_EQ(released, 1);
  EXPECT_EQ(byte, 'x');
}

}  // namespace
}  // namespace farcall
