// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SIM_SIM_CALL_H_
#define FARCALL_RPC_TESTING_SIM_SIM_CALL_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/controller.h"
#include "rpc/runtime/channel.h"
#include "rpc/testing/test_service.pb.h"
#include "transport/base/time.h"

namespace farcall {

// One call of a simulated run, and what must hold of it. One thread.
class SimCall final : private google::protobuf::Closure {
 public:
  // What the handlers of a run fail with on purpose.
  static constexpr int kOwnError = 777;

  struct Plan {
    uint64_t id = 0;  // unlike all others of the run
    int depth = 0;    // how many servers it may be handed on to
    size_t attachment = 0;
    int64_t timeout_ms = -1;
  };

  // `clock` outlives the call.
  SimCall(const Plan& plan, const Clock& clock);

  // `then`, if any, runs when the call has ended.
  void Start(Channel& channel, std::function<void()> then = nullptr);
  void Cancel() { controller_.StartCancel(); }

  bool ended() const { return ends_ > 0; }
  bool Succeeded() const { return ended() && !controller_.Failed(); }
  const Controller& controller() const { return controller_; }
  const test::EchoResponse& response() const { return response_; }
  // What does not hold; "": all does.
  std::string Violation();
  // Of plan and outcome; runs that went alike have the same.
  uint64_t Digest() const;

  // The bytes that travel beside a call, of which an answer holds as many as it likes.
  static Buffer Attachment(uint64_t id, size_t bytes);

 private:
  void Run() override;
  bool AttachmentIsRight();

  const Plan plan_;
  const Clock& clock_;
  Controller controller_;
  test::EchoRequest request_;
  test::EchoResponse response_;
  std::function<void()> then_;
  TimePoint started_;
  TimePoint ended_at_;
  int ends_ = 0;
  bool inside_start_ = false;
  bool ended_inside_start_ = false;
};

// What the message of a request says.
uint64_t SimCallId(absl::string_view message);

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SIM_SIM_CALL_H_
