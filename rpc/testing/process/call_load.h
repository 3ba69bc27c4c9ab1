// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_PROCESS_CALL_LOAD_H_
#define FARCALL_RPC_TESTING_PROCESS_CALL_LOAD_H_

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "rpc/runtime/channel.h"
#include "rpc/testing/test_call.h"

namespace farcall {

// Threads that each keep calls in flight over one channel, until Stop. It checks that each
// call ends, once, with its own answer or an error that is expected.
class CallLoad {
 public:
  static constexpr int kThreads = 4;
  static constexpr int kInFlight = 16;  // of each thread

  explicit CallLoad(Channel& channel) : channel_(channel) {
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { Run(i); });
  }
  ~CallLoad() { Stop(); }

  // Waits for the calls that are under way.
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  int succeeded() const { return succeeded_; }
  int failed() const { return failed_; }
  // Calls that did not end, ended twice or ended wrongly.
  int wrong() const { return wrong_; }

 private:
  void Run(int thread) {
    for (int round = 0; !stop_; ++round) {
      std::vector<TestCall> calls(kInFlight);
      for (int i = 0; i < kInFlight; ++i) {
        TestCall& call = calls[static_cast<size_t>(i)];
        call.request.set_message(std::to_string(thread * 1'000'000 + round * kInFlight + i));
        // Some take long enough to be cut in the middle.
        if (i % 4 == 0) call.controller.request_attachment().Append(attachment_);
        call.Start(channel_);
      }
      bool refused = false;
      for (TestCall& call : calls) {
        Judge(call);
        refused |= call.controller.Failed();
      }
      // Leaves the core to a server that is coming up.
      if (refused) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void Judge(TestCall& call) {
    const bool ended = call.Wait() && call.ends() == 1;
    if (ended && call.Echoed()) {
      ++succeeded_;
    } else if (ended && call.controller.ErrorCode() == kFailedSocket) {
      ++failed_;
    } else {
      ++wrong_;
    }
  }

  Channel& channel_;
  const std::string attachment_ = std::string(size_t{40} << 10, 'a');
  std::atomic<bool> stop_{false};
  std::atomic<int> succeeded_{0};
  std::atomic<int> failed_{0};
  std::atomic<int> wrong_{0};
  std::vector<std::thread> threads_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_PROCESS_CALL_LOAD_H_
