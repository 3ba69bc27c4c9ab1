// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SIM_SIM_SERVICE_H_
#define FARCALL_RPC_TESTING_SIM_SIM_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rpc/testing/scripted_service.h"
#include "transport/testing/test_random.h"

namespace farcall {

// The handlers of a simulated run: they answer at once or later, with or without an
// attachment, fail, or make a call of their own first. What one does follows from the
// call's id alone, in whatever order handlers run. One thread.
class SimService {
 public:
  // Starts a call and runs `then` with its success when it has ended.
  using MakeCall = std::function<void(std::function<void(bool)> then)>;

  SimService(size_t largest_attachment, MakeCall make_call)
      : largest_attachment_(largest_attachment), make_call_(std::move(make_call)) {}

  google::protobuf::Service& service() { return service_; }
  // Answers one of those that wait, if any.
  void AnswerOne(TestRandom& random);
  void AnswerAll();
  bool waiting() const { return !kept_.empty(); }
  // From now on all are answered at once.
  void Hurry() { hurry_ = true; }

  // How often the handler ran for each call.
  const std::map<uint64_t, int>& runs() const { return runs_; }
  // What does not hold once all were answered; "": all does.
  std::string Violation(int most_runs) const;

 private:
  void Handle(Controller& controller, const test::EchoRequest& request,
              test::EchoResponse& response, google::protobuf::Closure* done);
  void Keep(Controller& controller, google::protobuf::Closure* done);
  void HandOn(Controller& controller, google::protobuf::Closure* done);

  const size_t largest_attachment_;
  const MakeCall make_call_;
  ScriptedService service_{[this](auto&&... arguments) { Handle(arguments...); }};
  std::vector<google::protobuf::Closure*> kept_;
  std::map<uint64_t, int> runs_;
  int wait_for_end_ = 0;  // handlers that called NotifyOnCancel
  int notified_ = 0;
  bool hurry_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SIM_SIM_SERVICE_H_
