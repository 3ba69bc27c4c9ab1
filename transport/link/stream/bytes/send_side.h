// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_BYTES_SEND_SIDE_H_
#define FARCALL_TRANSPORT_LINK_STREAM_BYTES_SEND_SIDE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/buffer/buffer.h"
#include "transport/link/stream/bytes/byte_range.h"

namespace farcall {

// The outgoing bytes of a stream, from the first one that is not acknowledged on:
//
//   acknowledged <= position <= end            position <= highest <= end
//   |--- in flight ---|--- queued ---|         position - acknowledged <= window
//
// Pure. Blocks are shared, never copied.
class SendSide {
 public:
  explicit SendSide(size_t window) : window_(window) {}

  uint64_t acknowledged() const { return acknowledged_; }
  // What was sent ends here, as far as it is not sent again from Rewind on.
  uint64_t position() const { return acknowledged_ + flight_.size(); }
  // Of the byte that Next gives.
  uint64_t next() const { return again_.empty() ? position() : again_.front().from; }
  // Bytes that are to be sent, now or when the window allows; whether there are any.
  uint64_t waiting() const;
  bool has_waiting() const { return !queue_.empty() || !again_.empty(); }
  // Whether Next would give fewer bytes than `least`, though more wait and the window, which is not
  // a small one, will have room for them.
  bool crumb(size_t least) const {
    return again_.empty() && room() < std::min(least, queue_.size()) && window_ >= 8 * least;
  }
  // One more than the highest that was ever sent.
  uint64_t highest() const { return highest_; }
  uint64_t end() const { return position() + queue_.size(); }
  size_t queued() const { return queue_.size(); }
  size_t in_flight() const { return flight_.size(); }
  // Bytes that were sent more than once.
  uint64_t resent() const { return resent_; }

  void Write(Buffer&& data) { queue_.Append(std::move(data)); }
  // The next bytes to be sent from position(), which moves: at most `most`, and as many as
  // the window allows; empty if none.
  // A part of a large slice that is much less than that is not cut off it: it would be too little
  // for a device to fetch by itself. So it may be less than `most`, down to half of it; and
  // nothing, where the window has room for too little of one.
  Buffer Next(size_t most);
  // The same, where these are then all bytes in flight: they are seen, until the next call, and no
  // further reference to their blocks is made. Null: it did nothing, Next does.
  const Buffer* NextAlone(size_t most);
  // The peer has everything below `offset`. False: that was never sent.
  [[nodiscard]] bool Acknowledge(uint64_t offset);
  // Everything that is not acknowledged is to be sent again.
  void Rewind();
  // This is, of what was sent, before all that never was. Not with Rewind.
  void SendAgain(ByteRange range);
  // The peer has everything below `offset` (<= highest()): it need not be sent again, now or later.
  void Spare(uint64_t offset);
  // Nothing below `offset` (<= highest()) needs to be sent again.
  void Raise(uint64_t offset);
  // Drops what was never sent: the stream ends at highest().
  void DropUnsent();

 private:
  size_t room() const { return window_ - std::min(window_, flight_.size()); }
  Buffer NextAgain(size_t most);
  void OnNext(size_t bytes);
  void TrimAgain();

  const size_t window_;
  uint64_t acknowledged_ = 0;
  uint64_t highest_ = 0;
  uint64_t resent_ = 0;
  uint64_t spared_ = 0;           // the peer has everything below
  std::vector<ByteRange> again_;  // in order, apart from each other, all in flight_
  Buffer flight_;
  Buffer queue_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_BYTES_SEND_SIDE_H_
