// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/refuse_waiting.h"

#include <mutex>
#include <utility>

#include "transport/base/threads/in_flight.h"

namespace farcall {
namespace {

// What the loops bring together. A loop that comes too late finds it closed, and claims nothing.
struct Claimed {
  InFlight sessions_left;
  std::mutex mutex;
  bool closed = false;             // guarded by mutex
  std::vector<ServerCall*> calls;  // guarded by mutex
};

}  // namespace

void RefuseWaiting(const std::vector<std::shared_ptr<ServerSession>>& sessions, int code,
                   absl::string_view text, Duration timeout) {
  const auto claimed = std::make_shared<Claimed>();
  for (const std::shared_ptr<ServerSession>& session : sessions) {
    claimed->sessions_left.Begin();
    session->loop().RunOrPost([session, claimed] {
      {
        std::lock_guard<std::mutex> lock(claimed->mutex);
        if (!claimed->closed) {
          for (ServerCall* const call : session->ClaimWaiting()) claimed->calls.push_back(call);
        }
      }
      claimed->sessions_left.End();
    });
  }
  claimed->sessions_left.WaitForNone(timeout);
  std::vector<ServerCall*> calls;
  {
    std::lock_guard<std::mutex> lock(claimed->mutex);
    claimed->closed = true;
    calls.swap(claimed->calls);
  }
  for (ServerCall* const call : calls) {
    call->Refuse(code, text);
    call->Unref();
  }
}

}  // namespace farcall
