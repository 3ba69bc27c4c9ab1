// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_GENERATION_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_GENERATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "transport/buffer/buffer.h"
#include "transport/link/connection/linked_stream.h"
#include "transport/link/stream/frames/frame_parts.h"
#include "transport/transport.h"

namespace farcall {

// An RDMA connection under a LinkedStream, until it has ended. What it says after it was given up
// counts no more.
class LinkedStream::Generation final : public Connection::Handler {
 public:
  Generation(LinkedStream& stream, uint32_t number, std::unique_ptr<Connection> connection)
      : stream_(stream), number_(number), connection_(std::move(connection)) {
    if (stream_.trusted_) connection_->TrustPeer();
  }

  uint32_t number() const { return number_; }
  Connection& connection() const { return *connection_; }
  bool given_up() const { return given_up_; }
  void GiveUp(const absl::Status& why) {
    if (std::exchange(given_up_, true)) return;
    connection_->Close(why, CloseMode::kAbort);
  }

  size_t OnRead(Buffer& input) override {
    if (given_up_) return 0;
    const size_t needed = stream_.OnGenerationRead(number_, parts_, input);
    unread_ = input.size();
    return needed;
  }
  Buffer PlaceFor(size_t ahead, size_t bytes) override {
    // The header of their frame says where the bytes stand in the stream.
    if (given_up_ || unread_ > 0 || ahead >= parts_.left()) return {};
    if (stream_.AwaitsPlace()) {
      waits_ = true;
      connection_->PauseRead();
      return {};
    }
    return stream_.PlaceFor(parts_, ahead, std::min(bytes, parts_.left() - ahead));
  }
  std::shared_ptr<void> HoldPlace() override { return stream_.handler_->HoldPlace(); }
  void GoOn() {
    if (std::exchange(waits_, false) && !given_up_) connection_->ResumeRead();
  }
  void OnDrained() override {
    if (!given_up_) stream_.AfterEvent();
  }
  void OnClose(const absl::Status& why) override {
    LinkedStream& stream = stream_;
    const uint32_t number = number_;
    const absl::Status reason = why;
    const bool first = !std::exchange(given_up_, true);
    stream.Bury(*this);
    if (!first) return;
    stream.stream_.OnGenerationBroken(number, reason);
    stream.AfterEvent();
  }

 private:
  LinkedStream& stream_;
  const uint32_t number_;
  const std::unique_ptr<Connection> connection_;
  bool given_up_ = false;
  FrameParts parts_;
  size_t unread_ = 0;   // bytes left in the input
  bool waits_ = false;  // reading has paused until GoOn
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_GENERATION_H_
