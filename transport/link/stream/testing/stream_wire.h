// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_WIRE_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_WIRE_H_

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "transport/base/time.h"
#include "transport/buffer/buffer.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/testing/test_random.h"

namespace farcall {

// One direction of a connection, in virtual time: in order, late, in pieces, and with room
// for only so many bytes that were not read, as credits or a socket have.
class StreamWire {
 public:
  StreamWire(TestRandom& random, Duration most_delay, size_t room)
      : random_(random), most_delay_(most_delay), room_(room) {}

  void Send(Buffer bytes, TimePoint now);
  // The end of file, behind what was sent.
  void SendEnd(TimePoint now);
  // Bytes that no room was there for.
  size_t unsent() const { return unsent_; }

  std::optional<TimePoint> next() const {
    std::optional<TimePoint> next;
    if (!flight_.empty() && !silent_) next = flight_.front().at;
    return next;
  }
  // What arrives at next(): bytes, or nothing at the end of file.
  std::optional<Buffer> Arrive();
  // The receiver read so much of what had arrived.
  void Read(size_t bytes, TimePoint now);

  // What is sent from now on is lost, and all but a random part of what is on its way. That comes
  // `late`, as from a device which sent it again when the cable was there once more for a moment;
  // but never all that matters, since such a wire cannot be told from one that is not cut.
  void Cut(Duration late = {});
  bool cut() const { return cut_; }
  // Keeps everything that is on its way, for ever.
  void Silence() { silent_ = true; }

 private:
  struct Piece {
    TimePoint at{};
    Buffer bytes;
    bool end = false;
  };
  void Fill(TimePoint now);
  void Launch(Piece piece, TimePoint now);

  TestRandom& random_;
  const Duration most_delay_;
  const size_t room_;
  size_t used_ = 0;  // in flight or not read
  size_t unsent_ = 0;
  bool cut_ = false;
  bool silent_ = false;
  TimePoint last_{};
  std::deque<Piece> waiting_;
  std::deque<Piece> flight_;
};

// Both directions of a link.
struct StreamPipe {
  StreamPipe(LinkId of, TestRandom& random, Duration most_delay, size_t room) : link(of) {
    for (auto& wire : wires) wire = std::make_unique<StreamWire>(random, most_delay, room);
  }
  void Cut() {
    for (auto& wire : wires) wire->Cut();
  }

  LinkId link;
  std::array<std::unique_ptr<StreamWire>, 2> wires;  // [0]: from side 0 to side 1
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_WIRE_H_
