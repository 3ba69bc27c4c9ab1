// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_CARRIER_FRAMED_BACKLOG_H_
#define FARCALL_TRANSPORT_CARRIER_FRAMED_BACKLOG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farcall {

// For a Connection that frames what it is given and writes it to another one: how many of its own
// caller's bytes wait there. The backlog of the one below counts frames, with their headers and
// those that hold no byte of the caller. Pure.
class FramedBacklog {
 public:
  // A frame of `bytes` follows, the last `own` of them the caller's; what wraps them may stand
  // behind them too. `waiting`: the backlog below, without it.
  void Add(size_t own, size_t bytes, size_t waiting);
  // The same of a frame that has left at once, as all before it.
  void Pass(size_t own, size_t bytes) {
    frames_.clear();
    given_ += bytes;
    own_ += own;
  }
  // The bytes of the frames so far go by another way too: they count no more.
  void Forget() { frames_.clear(); }
  // Bytes of all frames so far.
  uint64_t given() const { return given_; }
  // Bytes of the caller that wait, where the backlog below is `waiting`. Never one that has left.
  size_t Own(size_t waiting) const;

 private:
  struct Frame {
    uint64_t end = 0;      // of given_, behind it
    uint64_t own = 0;      // the caller's bytes in it
    uint64_t own_end = 0;  // and up to its end
  };

  // The first frame of which something waits.
  size_t FirstWaiting(size_t waiting) const;

  uint64_t given_ = 0;
  uint64_t own_ = 0;
  // With bytes of the caller: those that wait, and at most as many that have left.
  std::vector<Frame> frames_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CARRIER_FRAMED_BACKLOG_H_
