// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_RELINK_PACE_H_
#define FARCALL_RPC_SESSION_CLIENT_RELINK_PACE_H_

#include <chrono>
#include <cstdint>

#include "transport/base/backoff.h"
#include "transport/base/time.h"
#include "transport/why_not_rdma.h"

namespace farcall {

// When to try again to replace plain connections by linked ones, which can go over to RDMA. Pure.
class RelinkPace {
 public:
  explicit RelinkPace(uint64_t random) : pause_(kFirst, kLongest, random) {}

  // Whether what makes connections plain for this reason may pass while they live.
  static bool MayPass(WhyNotRdma why) { return IsOfThisHost(why) || IsOfThePeer(why); }
  // Until the next attempt. To look for a device here costs next to nothing; to ask a server costs
  // it a connection.
  Duration Next(WhyNotRdma why) {
    if (IsOfThisHost(why)) pause_.Reset();
    return pause_.Next();
  }
  void OnLinked() { pause_.Reset(); }

  static constexpr Duration kFirst = std::chrono::seconds(10);
  static constexpr Duration kLongest = std::chrono::minutes(5);

 private:
  // It has no device that can be used, or has not found it in time.
  static bool IsOfThisHost(WhyNotRdma why) {
    switch (why) {
      case WhyNotRdma::kNoLibrary:
      case WhyNotRdma::kNoDevice:
      case WhyNotRdma::kDeviceNotPermitted:
      case WhyNotRdma::kDeviceExcluded:
      case WhyNotRdma::kNoActivePort:
      case WhyNotRdma::kNoAddress:
      case WhyNotRdma::kMemlock:
      case WhyNotRdma::kDeviceRefused:
      case WhyNotRdma::kTimedOut:
        return true;
      default:
        return false;
    }
  }
  // It was too busy to answer, or has no device.
  static bool IsOfThePeer(WhyNotRdma why) {
    return why == WhyNotRdma::kPeerSilent || why == WhyNotRdma::kPeerHasNone;
  }

  Backoff pause_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_RELINK_PACE_H_
