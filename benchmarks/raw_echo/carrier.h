// SPDX-License-Identifier: Apache-2.0
//
// Who serves accepted connections: a blocked thread for each, or threads that spin over all.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_CARRIER_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_CARRIER_H_

#include <memory>

#include "transport/base/unique_fd.h"

namespace farcall::bench {

class Carrier {
 public:
  // Ends all connections and waits for the threads.
  virtual ~Carrier() = default;
  // Serves it until the peer closes. One thread at a time calls this.
  virtual void Take(UniqueFd connection) = 0;
};

// At most this many connections at once; more are closed.
inline constexpr size_t kMaxConnections = 20'000;

std::unique_ptr<Carrier> BlockingCarrier();
// `threads` >= 1.
std::unique_ptr<Carrier> SpinningCarrier(int threads);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_CARRIER_H_
