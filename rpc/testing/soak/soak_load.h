// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SOAK_SOAK_LOAD_H_
#define FARCALL_RPC_TESTING_SOAK_SOAK_LOAD_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rpc/runtime/channel.h"
#include "rpc/testing/soak/soak_call.h"
#include "rpc/testing/soak/soak_ledger.h"

namespace farcall {

// Reads and writes at a steady pace, by threads that wait for each call and threads that do
// not. Each failure is a line on standard output (docs/soak.md).
class SoakLoad {
 public:
  static constexpr int kSynchronous = 4;    // threads
  static constexpr int kAsynchronous = 2;   // threads
  static constexpr size_t kInFlight = 128;  // of each asynchronous thread
  static constexpr int kMaxFailureLines = 10'000;

  // What the channels are for. They and the ledger outlive this.
  struct Channels {
    Channel& reads;   // tried again where that may help
    Channel& writes;  // only where it certainly did not run
  };
  SoakLoad(const Channels& channels, SoakLedger& ledger, int calls_per_second, uint64_t seed);

  // No new calls; waits up to `timeout` for those under way. False: some did not end; then this
  // must not be destroyed.
  [[nodiscard]] bool Stop(std::chrono::seconds timeout);
  // One JSON object on one line: the numbers so far.
  std::string Report() const;

 private:
  void CallSynchronously(uint64_t seed);
  void CallAsynchronously(uint64_t seed, std::deque<SoakCall>& calls);
  void Start(SoakCall& call, uint64_t choice, google::protobuf::Closure* done);
  void OnEnd(SoakCall& call);
  void LogFailure(const SoakCall& call);
  bool WaitForNone(TimePoint limit) const;
  int InFlight() const;
  int EndedTwice() const;

  const Channels channels_;
  SoakLedger& ledger_;
  const Duration pace_;  // between two calls of a thread
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> next_read_{0};

  std::atomic<int64_t> reads_{0};
  std::atomic<int64_t> failed_reads_{0};
  std::atomic<int64_t> writes_{0};
  std::atomic<int64_t> failed_writes_{0};
  std::atomic<int64_t> wrong_{0};    // an answer that is another's
  std::atomic<int64_t> retried_{0};  // attempts beyond the first
  std::atomic<int64_t> backed_up_{0};
  std::atomic<int64_t> skipped_{0};  // not made: too many were in flight
  std::atomic<int64_t> longest_us_{0};
  std::atomic<int> synchronous_{0};  // under way
  std::atomic<int> failure_lines_{0};

  std::array<std::deque<SoakCall>, kAsynchronous> asynchronous_;
  std::vector<std::thread> threads_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SOAK_SOAK_LOAD_H_
