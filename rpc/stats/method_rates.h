// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATS_METHOD_RATES_H_
#define FARCALL_RPC_STATS_METHOD_RATES_H_

#include "rpc/stats/method_snapshot.h"
#include "transport/base/time.h"

namespace farcall {

struct MethodRates {
  MethodSnapshot total;
  double qps = 0;  // of the last second or two: calls that ended or were refused
  double errors_per_second = 0;
  MethodSnapshot recent;      // of the last minute or so
  double recent_seconds = 0;  // how long that is
};

// One of the moments that follow each other.
struct CallMoment {
  TimePoint end;
  double seconds = 0;
  MethodCounts counts;  // since the moment before
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATS_METHOD_RATES_H_
