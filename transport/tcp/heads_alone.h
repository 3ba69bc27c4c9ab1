// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_HEADS_ALONE_H_
#define FARCALL_TRANSPORT_TCP_HEADS_ALONE_H_

#include <cstddef>
#include <cstdint>

namespace farcall {

// Whether the next message is likely to be a large one with a place of its own, of which no more is
// read ahead than its head is likely to have: what is read ahead is copied to its place later. It
// learns from each message for the next; a wrong guess costs one more system call, and is the last
// one. Pure.
class HeadsAlone {
 public:
  // Bytes; a smaller message costs less to copy than to read alone.
  static constexpr size_t kWorth = size_t{16} << 10;
  // A head with a small message.
  static constexpr size_t kRoom = 512;

  // The message at the front lacks `missing` bytes (0: none was begun, or it is not known), of
  // which `target` have a place. How many bytes behind them to read at most.
  size_t Room(size_t missing, size_t target) {
    if (target > 0 && missing >= kWorth) {
      alone_ = true;
    } else if (overran_ || (target == 0 && missing >= kWorth)) {
      alone_ = false;
    }
    missing_ = missing;
    return alone_ ? kRoom : SIZE_MAX;
  }
  // So many came of those that were offered.
  void Came(size_t bytes, size_t offered) { overran_ = bytes == offered && bytes > missing_; }

 private:
  bool alone_ = false;
  bool overran_ = false;  // there was more of another message than was offered
  size_t missing_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_HEADS_ALONE_H_
