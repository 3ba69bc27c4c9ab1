// SPDX-License-Identifier: Apache-2.0
//
// The client's side of an upgrade: when to ask, what to do with the answer, and when to
// ask again. Pure. What comes out of its turn changes nothing.
//
//   kWaiting --time: ASK--> kAsking --OFFER: dial--> kConnecting --dialled--> kReady
//      ^                       |                        |                    |
//      +-----------------------+------ declined, failed, lost: a pause ------+
//
// Where several rails are agreed on, what was dialled counts as one of them, and the next is asked
// for at once: kReady is reached when all are there. When one is lost, it is left. One that errs is
// rested (RailRest): it is asked for later.
//
// Every attempt has a generation of its own, one above the last. An answer to another
// attempt than the one under way counts for nothing.

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_CLIENT_UPGRADE_MACHINE_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_CLIENT_UPGRADE_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/backoff.h"
#include "transport/base/time.h"
#include "transport/link/upgrade/rail_rest.h"
#include "transport/link_options.h"
#include "transport/why_not_rdma.h"

namespace farcall {

enum class ClientUpgradeState : uint8_t { kWaiting, kAsking, kConnecting, kReady, kEnded };

class ClientUpgradeMachine {
 public:
  enum class Do : uint8_t { kNothing, kAsk, kConnect };

  // The first attempt is due at once. `random`: any number, another for each connection.
  // `rails`: to be there at the same time, or, each over a place of its own, at most (`apart`):
  // then one is asked for now and then for as long as there are fewer.
  ClientUpgradeMachine(const UpgradeTimes& times, uint64_t random, uint32_t rails = 1,
                       bool apart = false);

  // next() has come, or not.
  Do OnTime(TimePoint now);
  Do OnOffer(uint32_t generation);
  void OnDecline(TimePoint now, uint32_t generation, const absl::Status& why);
  // `rail`: the place that it is over, such as a device's port, by any name.
  void OnConnected(TimePoint now, uint32_t generation, absl::string_view rail = "");
  // What became of `generation`, under way or dialled; `why` carries the reason.
  void OnLost(TimePoint now, uint32_t generation, const absl::Status& why);
  // Something came, here or there, that may make the next attempt good: the pauses begin anew.
  void RetrySoon(TimePoint now);
  // There are no attempts any more.
  void OnEnd() { state_ = ClientUpgradeState::kEnded; }

  ClientUpgradeState state() const { return state_; }
  // Whether it was dialled, and is not lost.
  bool ready(uint32_t generation) const;
  // How many are.
  size_t rails() const { return ready_.size(); }
  // The places of rails that rest, where each has its own. None while it would be the only one.
  std::vector<std::string> Resting(TimePoint now) const;
  // Of the attempt under way, or of the last one; 0: there was none.
  uint32_t generation() const { return generation_; }
  // When OnTime is due.
  std::optional<TimePoint> next() const;
  // Why it is not in use: of the last attempt, or kPending while the first is under way.
  const absl::Status& why() const { return why_; }

 private:
  struct Ready {
    uint32_t generation = 0;
    TimePoint since{};
    std::string rail;  // its place, and which one there
  };

  // Of the attempt under way: asked for, and neither answered for good nor given up.
  bool Of(uint32_t generation) const {
    return generation == generation_ &&
           (state_ == ClientUpgradeState::kAsking || state_ == ClientUpgradeState::kConnecting);
  }
  std::string NameOf(absl::string_view rail) const;
  void LoseReady(TimePoint now, std::vector<Ready>::iterator lost, const absl::Status& why);
  void Pause(TimePoint now, const absl::Status& why);

  const UpgradeTimes times_;
  Backoff backoff_;
  ClientUpgradeState state_ = ClientUpgradeState::kWaiting;
  uint32_t generation_ = 0;
  TimePoint next_ = TimePoint::min();
  // None is asked for before.
  TimePoint pause_end_ = TimePoint::min();
  const uint32_t rails_;
  const bool apart_;
  std::vector<Ready> ready_;
  RailRest rest_;
  absl::Status why_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_CLIENT_UPGRADE_MACHINE_H_
