// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_RDMA_PEER_CHECKED_LOAD_H_
#define FARCALL_RPC_TESTING_RDMA_PEER_CHECKED_LOAD_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rpc/controller.h"
#include "rpc/runtime/channel.h"
#include "rpc/testing/rdma_peer/exchange.pb.h"

namespace farcall::rdma_peer {

// An id that no other call of this host has.
uint64_t NextId();
// So many were given out.
uint64_t IdsGiven();

// One call at a time, used again and again; its answer is judged to the byte.
struct CheckedCall {
  Controller controller;
  ExchangeRequest request;
  ExchangeResponse response;
  size_t attachment = 0;

  // Makes it ready for another call. `answer`: bytes attached to the answer; none: as many.
  void Prepare(size_t attachment_bytes, std::optional<size_t> answer = std::nullopt);
  // After the call. False: it succeeded with bytes that are not its own.
  bool Right() const;
  bool OverRdma() const;
};

// Calls in flight on some connections. A call's closure starts the next one.
class CheckedLoad {
 public:
  struct Plan {
    size_t attachment = 0;         // bytes; at least, if there is a most
    size_t most_attachment = 0;    // sizes between, small ones as often as large ones
    int in_flight = 1;             // on each connection
    std::optional<size_t> answer;  // bytes attached to each answer; none: as to its request
    uint64_t calls_of_each = 0;    // connection; 0: until Stop
  };
  struct Counts {
    uint64_t ok = 0;
    uint64_t failed = 0;
    uint64_t wrong = 0;
    uint64_t rdma = 0;  // successes that this transport carried, as farcall tells
    uint64_t tcp = 0;
    std::string first_error;

    std::string ToString() const;
  };

  // The channels outlive it. Starts at once.
  CheckedLoad(const std::vector<std::unique_ptr<Channel>>& channels, const Plan& plan);
  CheckedLoad(const CheckedLoad&) = delete;
  CheckedLoad& operator=(const CheckedLoad&) = delete;
  // Stops, and waits.
  ~CheckedLoad();

  // Begins no more calls. Any thread.
  void Stop();
  // Until all have ended; calls end by their deadlines.
  Counts Wait();
  Counts counts() const;

 private:
  struct Slot;
  // Failures after which it gives up by itself.
  static constexpr uint64_t kMaxFailures = 10'000;

  void Begin(Slot& slot);
  void OnEnd(Slot& slot);
  // With the mutex held: whether the slot may begin another call, which is then counted.
  bool TakeTurn(Slot& slot);

  const Plan plan_;
  std::vector<uint64_t> left_;  // calls not yet begun on each connection; by mutex_
  std::vector<std::unique_ptr<Slot>> slots_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  Counts counts_;
  size_t running_ = 0;  // slots
  bool stopped_ = false;
};

}  // namespace farcall::rdma_peer

#endif  // FARCALL_RPC_TESTING_RDMA_PEER_CHECKED_LOAD_H_
