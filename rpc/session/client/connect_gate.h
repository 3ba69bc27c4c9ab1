// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_CONNECT_GATE_H_
#define FARCALL_RPC_SESSION_CLIENT_CONNECT_GATE_H_

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/base/backoff.h"
#include "transport/base/time.h"

namespace farcall {

// What the connections of a channel to one server share of connecting to it: a pause after a
// failure, which doubles with each in a row, and in which calls fail at once with the last error;
// and from then on one attempt at a time until one succeeds, however many need a connection. Those
// that began before the last result was known do not count: each ends at its own time, and no call
// waits for it. Pure; one thread at a time.
class ConnectGate {
 public:
  static constexpr Duration kFirstPause = std::chrono::milliseconds(5);
  static constexpr Duration kLongestPause = std::chrono::milliseconds(200);

  using Waiter = absl::AnyInvocable<void(const absl::Status&)>;

  // OK to begin an attempt, or to await one; or why not now.
  absl::Status MayTry(TimePoint now) const {
    return MustAwait() || now >= next_ ? absl::OkStatus() : last_error_;
  }
  // An attempt is under way that finds out what another one would: await its end.
  bool MustAwait() const { return !last_error_.ok() && under_way_ > 0; }
  // `waiter` is run once, by the next Wake.
  void Await(Waiter waiter) { waiters_.push_back(std::move(waiter)); }

  // An attempt begins; what is returned goes to its OnEnd.
  uint64_t Begin() {
    ++under_way_;
    return results_;
  }
  // False: a failure that says nothing new, of an attempt that is older than the last result. Of
  // those that began together the first one counts: they are one failure in the row. Else Wake
  // follows.
  bool OnEnd(uint64_t attempt, TimePoint now, const absl::Status& how) {
    if (attempt != results_ && !how.ok()) return false;
    ++results_;
    under_way_ = 0;
    last_error_ = how;
    if (how.ok()) pause_.Reset();
    next_ = how.ok() ? TimePoint::min() : now + pause_.NextUncut();
    return true;
  }
  // When the caller of OnEnd has done its own part: all who wait go on. They may begin, await and
  // end what they like.
  void Wake(const absl::Status& how) {
    for (Waiter& waiter : std::exchange(waiters_, {})) waiter(how);
  }

 private:
  Backoff pause_{kFirstPause, kLongestPause};
  TimePoint next_ = TimePoint::min();  // no attempt begins before
  absl::Status last_error_;            // OK: the last result was a success, or there was none
  int under_way_ = 0;                  // that began since the last result
  uint64_t results_ = 0;               // that counted
  std::vector<Waiter> waiters_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_CONNECT_GATE_H_
