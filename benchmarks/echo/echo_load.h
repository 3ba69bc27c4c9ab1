// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_ECHO_ECHO_LOAD_H_
#define FARCALL_BENCHMARKS_ECHO_ECHO_LOAD_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_recorder.h"
#include "benchmarks/common/open_loop_schedule.h"
#include "benchmarks/echo/echo.pb.h"
#include "benchmarks/echo/echo_pacer.h"
#include "rpc/runtime/channel.h"

namespace farcall::bench {

// The calls of one connection: a fixed number under way (closed loop), or started at
// fixed times by Pace (open loop). A call's closure starts the next one.
class EchoLoad {
 public:
  // `channel` outlives the load. `attachment`: sent with each call of an echo, shared; `put`: not
  // sent back. `memory`: a place for each call of options.way put or get.
  EchoLoad(Channel& channel, const LoadOptions& options, const LoadWindow& window,
           const Buffer& attachment, bool put, const RegisteredMemory& memory);
  EchoLoad(const EchoLoad&) = delete;
  EchoLoad& operator=(const EchoLoad&) = delete;
  ~EchoLoad();

  // Closed loop: starts options.in_flight calls.
  void Start();
  // Open loop, until the window is over: starts what is due, at most options.in_flight under way;
  // the rest waits, and its wait counts as latency. As user code of `loop`, the channel's.
  void Pace(EventLoop& loop, const OpenLoopSchedule& schedule);
  // Until the last call has ended; calls end by their deadlines.
  void WaitForLast();
  // After WaitForLast.
  const LoadRecorder& recorder() const { return recorder_; }

 private:
  class Call;

  void Begin(Call& call, LoadWindow::Time intended);
  bool BeginOne(LoadWindow::Time intended);
  void OnEnd(Call& call);
  bool Record(Call& call, LoadWindow::Time now);
  void CallUntilOver(Call& call);

  Echo_Stub stub_;
  Store_Stub store_;
  const LoadOptions& options_;
  const Buffer& attachment_;
  const size_t echoed_;  // bytes attached to each answer
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::thread> callers_;
  std::unique_ptr<EchoPacer> pacer_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  LoadRecorder recorder_;
  std::vector<Call*> free_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_ECHO_ECHO_LOAD_H_
