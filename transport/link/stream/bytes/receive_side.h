// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_BYTES_RECEIVE_SIDE_H_
#define FARCALL_TRANSPORT_LINK_STREAM_BYTES_RECEIVE_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/base/time.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// The incoming bytes of a stream, as numbers: what was received in a row, what of it is
// acknowledged, and what the peer knows of that. Pure.
class ReceiveSide {
 public:
  ReceiveSide(size_t window, Duration ack_delay) : window_(window), ack_delay_(ack_delay) {}

  // Bytes received in a row, from the beginning.
  uint64_t received() const { return received_; }
  // What a frame sent now acknowledges: stands still while the handler has paused (`frozen`).
  uint64_t acknowledged() const { return frozen_ ? acknowledged_ : received_; }
  // The offset up to which the peer may send, by the last acknowledgement.
  uint64_t limit() const { return ack_sent_ + window_; }
  // One more than the last byte there will be, once a BYE has come.
  const std::optional<uint64_t>& final() const { return final_; }
  bool complete() const { return final_ == received_; }

  // `bytes` came, at `offset` (<= received()): those below received() are taken off them.
  void Take(uint64_t offset, Buffer& bytes, TimePoint now);
  // False: bytes have come beyond it already.
  [[nodiscard]] bool SetFinal(uint64_t offset);
  void Freeze(bool frozen, TimePoint now);

  // An acknowledgement of acknowledged() is being sent.
  void OnAckSent() { ack_sent_ = acknowledged(); }
  // Whether a bare acknowledgement is due: a quarter of the window, or the delay is over.
  bool AckDue(TimePoint now) const;
  // When one will be due, if there is anything to acknowledge.
  std::optional<TimePoint> ack_time() const {
    if (acknowledged() == ack_sent_) return std::nullopt;
    return ack_time_;
  }
  // Not before the delay has passed once more.
  void PostponeAck(TimePoint now) { ack_time_ = now + ack_delay_; }

 private:
  const size_t window_;
  const Duration ack_delay_;
  uint64_t received_ = 0;
  uint64_t acknowledged_ = 0;  // where it stands still
  uint64_t ack_sent_ = 0;
  bool frozen_ = false;
  std::optional<uint64_t> final_;
  TimePoint ack_time_{};  // counts while ack_sent_ < acknowledged()
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_BYTES_RECEIVE_SIDE_H_
