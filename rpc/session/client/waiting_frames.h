// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_WAITING_FRAMES_H_
#define FARCALL_RPC_SESSION_CLIENT_WAITING_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Frames of calls for a connection that is not there yet. A call that ends takes its frame with
// it: no other request is refused for bytes that will never be sent. One thread at a time.
class WaitingFrames {
 public:
  // By call id: in the order in which a thread begins its calls.
  using Frames = absl::btree_map<uint64_t, Buffer>;

  size_t bytes() const { return bytes_; }
  bool empty() const { return frames_.empty(); }
  // `call_id` is not here.
  void Add(uint64_t call_id, Buffer frame) {
    bytes_ += frame.size();
    frames_.emplace(call_id, std::move(frame));
  }
  // If it is here.
  void Drop(uint64_t call_id) {
    const auto found = frames_.find(call_id);
    if (found == frames_.end()) return;
    bytes_ -= found->second.size();
    frames_.erase(found);
  }
  Frames TakeAll() {
    bytes_ = 0;
    return std::exchange(frames_, {});
  }

 private:
  Frames frames_;
  size_t bytes_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_WAITING_FRAMES_H_
