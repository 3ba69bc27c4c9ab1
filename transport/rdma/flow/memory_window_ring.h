// SPDX-License-Identifier: Apache-2.0
//
// MemoryWindowRing: the memory windows of one connection, by which its peer fetches bytes of the
// stream out of this process's memory. Each goes round:
//
//   free --Bind--> open --OnRead(count)--> read --NextToClose--> closing --OnClosed--> free
//
// Open: bound to one slice, which stays as it is and referenced until the window is free again:
// not the peer's word that it has read ends that, but the completion of the invalidation. They
// go round in order, since the peer counts what it has read, and reads in order.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_MEMORY_WINDOW_RING_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_MEMORY_WINDOW_RING_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {

// Pure. One thread at a time.
class MemoryWindowRing {
 public:
  static constexpr uint32_t kMax = 64;

  // `windows`: at most kMax; 0: none ever.
  explicit MemoryWindowRing(uint32_t windows) : windows_(windows) {
    Check(windows <= kMax, "windows are few, for the peer's count has 16 bits");
  }

  bool available() const { return bound_ - closed_ < windows_; }
  // Sent, and not known to be read.
  uint32_t open() const { return static_cast<uint32_t>(bound_ - read_); }
  bool close_due() const { return closing_ != read_; }

  // available(): the window, below `windows`, for the next reference.
  uint32_t Bind() {
    Check(available(), "a window is bound when it is free");
    return static_cast<uint32_t>(bound_++ % windows_);
  }
  // The peer has read so many since the connection began: MessageHeader::references_read. An
  // error: more than were sent, or fewer than it said before.
  absl::Status OnRead(uint16_t count) {
    const auto newly = static_cast<uint16_t>(count - static_cast<uint16_t>(read_));
    if (newly > open()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the RDMA peer has read ", newly, " references more, where ", open(), " are open"));
    }
    read_ += newly;
    return absl::OkStatus();
  }
  // A window that is to be invalidated now.
  std::optional<uint32_t> NextToClose() {
    if (!close_due()) return std::nullopt;
    return static_cast<uint32_t>(closing_++ % windows_);
  }
  // Its invalidation has completed.
  void OnClosed(uint32_t window) {
    Check(closed_ != closing_ && closed_ % windows_ == window, "windows are closed in order");
    ++closed_;
  }

 private:
  uint32_t windows_;
  // closed_ <= closing_ <= read_ <= bound_ <= closed_ + windows_
  uint64_t bound_ = 0;
  uint64_t read_ = 0;
  uint64_t closing_ = 0;
  uint64_t closed_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_MEMORY_WINDOW_RING_H_
