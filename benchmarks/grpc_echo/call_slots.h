// SPDX-License-Identifier: Apache-2.0
//
// The calls of one channel. A slot is one call at a time; the callback of its end begins
// the next, if one is due.
//
// Threads: callbacks come on gRPC's threads, several at once; a mutex for each channel
// guards what they share, and is not held while a call begins.

#ifndef FARCALL_BENCHMARKS_GRPC_ECHO_CALL_SLOTS_H_
#define FARCALL_BENCHMARKS_GRPC_ECHO_CALL_SLOTS_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_recorder.h"
#include "benchmarks/common/open_loop_schedule.h"
#include "benchmarks/grpc_echo/grpc_echo.grpc.pb.h"

namespace farcall::bench {

class CallSlots {
 public:
  using Time = LoadWindow::Time;

  // `request` outlives it. `schedule`: the arrivals of an open loop.
  CallSlots(const std::shared_ptr<grpc::Channel>& channel, const GrpcEchoMessage& request,
            int in_flight, const LoadWindow& window, std::optional<OpenLoopSchedule> schedule);

  // Closed loop: begins as many calls as may be in flight, which go on by themselves until
  // the window is over. Open loop: begins what is due at `now`. Not after the window.
  void Begin(Time now);
  // Open loop: when Begin is to be called next.
  Time next();

  // After the window. Calls that are still under way 10 s later are cancelled, recorded as an
  // error, and waited for.
  void Drain();
  // After Drain.
  const LoadRecorder& recorder() const { return recorder_; }

 private:
  struct Slot {
    std::optional<grpc::ClientContext> context;
    GrpcEchoMessage response;
    Time start;
  };

  // Under the mutex: whether a call is to begin at `now`, and since when it was due.
  std::optional<Time> Due(Time now);
  void Start(Slot& slot, Time due);
  void OnDone(Slot& slot, const grpc::Status& status);

  const std::unique_ptr<GrpcEcho::Stub> stub_;
  const GrpcEchoMessage& request_;
  const LoadWindow window_;
  std::vector<Slot> slots_;

  std::mutex mutex_;
  std::condition_variable all_idle_;
  std::optional<OpenLoopSchedule> schedule_;  // under mutex_, as what follows
  std::vector<Slot*> idle_;
  LoadRecorder recorder_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_GRPC_ECHO_CALL_SLOTS_H_
