// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_CARRIER_BACKLOG_BOUND_H_
#define FARCALL_TRANSPORT_CARRIER_BACKLOG_BOUND_H_

#include <cstddef>

namespace farcall {

// Whether the backlog of a connection is above a mark, for who writes to it all the time: to ask a
// connection takes a hundred instructions, and most are far below their marks. A backlog rises by
// what is written only, so that is added up, and the connection asked when the sum is too much.
// Pure.
class BacklogBound {
 public:
  // So many bytes are written.
  void Add(size_t bytes) { most_ += bytes; }
  // `backlog()` says how many wait now.
  template <typename Backlog>
  bool Above(size_t mark, Backlog&& backlog) {
    if (most_ <= mark) [[likely]]
      return false;
    most_ = backlog();
    return most_ > mark;
  }
  // No more than so many wait.
  size_t most() const { return most_; }

 private:
  size_t most_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CARRIER_BACKLOG_BOUND_H_
