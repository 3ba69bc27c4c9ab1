// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_
#define FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "google/protobuf/message.h"

namespace farcall {

// Messages of one type that come and go with each call: those that were given back are kept, with
// the memory of their fields, and used again. Any thread.
class MessagePool {
 public:
  // A larger one is not kept: its memory would be held for nothing.
  static constexpr size_t kMostBytes = size_t{16} << 10;
  static constexpr size_t kMostKept = 64;
  static constexpr uint32_t kLookEvery = 8;

  MessagePool() { free_.reserve(kMostKept); }
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;

  // Empty, of the type of `prototype`, which is always the same.
  std::unique_ptr<google::protobuf::Message> Take(const google::protobuf::Message& prototype) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<google::protobuf::Message> kept = std::move(free_.back());
        free_.pop_back();
        return kept;
      }
    }
    return std::unique_ptr<google::protobuf::Message>(prototype.New());
  }
  void Give(std::unique_ptr<google::protobuf::Message> message) {
    if (message->ByteSizeLong() > kMostBytes) return;
    message->Clear();
    // What fields keep when they are cleared adds up over calls. It takes a while to find out.
    const bool look = uses_.fetch_add(1, std::memory_order_relaxed) % kLookEvery == 0;
    if (look && message->SpaceUsedLong() > 4 * kMostBytes) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_ && free_.size() < kMostKept) free_.push_back(std::move(message));
  }
  // Keeps none any more: their types may go.
  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    free_.clear();
  }

 private:
  std::atomic<uint32_t> uses_{0};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<google::protobuf::Message>> free_;
  bool closed_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_
