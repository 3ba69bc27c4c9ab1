// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_CLIENT_SURVEY_H_
#define FARCALL_RPC_SESSION_CLIENT_CLIENT_SURVEY_H_

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "rpc/session/client/session_registry.h"
#include "rpc/status/runtime_status.h"
#include "transport/base/clock.h"
#include "transport/base/time.h"
#include "transport/loop/loop_group.h"

namespace farcall {

// A look at the connections of all channels, each with its loop held, and at the loops: a few
// dozen connections in one hold, so that no loop is held up for long.
class ClientSurvey : public std::enable_shared_from_this<ClientSurvey> {
 public:
  // Connections with details, and those that are looked at in one hold.
  static constexpr size_t kMaxShown = 500;
  static constexpr size_t kChunk = 64;

  // Asks all loops. No loop is held. What is passed outlives the loops' drivers.
  static std::shared_ptr<ClientSurvey> Begin(LoopGroup& loops, const Clock& clock,
                                             const SessionRegistry& registry);
  // Until all have answered, at most until `timeout` after Begin; what is not known by then is
  // left out. Once. As BeforeBlocking: a thread that drives a loop lets another take over, and
  // where none can, this does not wait.
  ClientsStatus Wait(Duration timeout);

 private:
  struct OfLoop;

  ClientSurvey(size_t loops, const Clock& clock);
  void Step(const std::shared_ptr<OfLoop>& of);

  const Clock& clock_;
  const TimePoint begin_;
  std::mutex mutex_;
  std::condition_variable done_;
  // Guarded by mutex_.
  ClientsStatus result_;
  size_t left_;  // loops that have not answered
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_CLIENT_SURVEY_H_
