// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_CONNECTION_SURVEY_H_
#define FARCALL_RPC_STATUS_CONNECTION_SURVEY_H_

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "rpc/session/server/server_core.h"
#include "rpc/status/server_status.h"
#include "transport/base/time.h"

namespace farcall {

// A look at all connections of a server, each with its loop held, and at the loops: a few dozen
// connections in one hold, so that no loop is held up for long.
class ConnectionSurvey : public std::enable_shared_from_this<ConnectionSurvey> {
 public:
  // Connections with details, and those that are looked at in one hold.
  static constexpr size_t kMaxShown = 500;
  static constexpr size_t kChunk = 64;

  struct Result {
    ConnectionsStatus connections;
    std::vector<LoopStatus> loops;
  };

  // Waits until all loops have answered, at most for `timeout`; what is not known by then is left
  // out. No loop is held. If this thread drives a loop, another takes over; where none can, this
  // does not wait.
  static Result Take(ServerCore& core, Duration timeout);

 private:
  struct OfLoop;

  explicit ConnectionSurvey(size_t loops);
  void Begin(ServerCore& core);
  void Step(const std::shared_ptr<OfLoop>& of);
  void Count(const ConnectionInfo& info);

  std::mutex mutex_;
  std::condition_variable done_;
  // Guarded by mutex_.
  Result result_;
  size_t left_;  // loops that have not answered

  TimePoint begin_{};
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_CONNECTION_SURVEY_H_
