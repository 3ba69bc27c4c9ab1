// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_
#define FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "google/protobuf/message.h"
#include "transport/base/spare_list.h"

namespace farcall {

// Messages of one type that come and go with each call: those that were given back are kept, with
// the memory of their fields, and used again. Any thread.
class MessagePool {
 public:
  // A larger one is not kept: its memory would be held for nothing.
  static constexpr size_t kMostBytes = size_t{16} << 10;
  static constexpr size_t kMostKept = 64;
  static constexpr uint32_t kLookEvery = 32;

  MessagePool() = default;
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;
  ~MessagePool() { Close(); }

  // Empty, of the type of what `prototype()` gives, which is always the same.
  template <typename Prototype>
  std::unique_ptr<google::protobuf::Message> Take(Prototype&& prototype) {
    google::protobuf::Message* const kept = free_.Take();
    return std::unique_ptr<google::protobuf::Message>(kept != nullptr ? kept : prototype().New());
  }
  void Give(std::unique_ptr<google::protobuf::Message> message) {
    if (message->ByteSizeLong() > kMostBytes) return;
    message->Clear();
    // What fields keep when they are cleared adds up over calls. It takes a while to find out.
    const bool look = uses_.fetch_add(1, std::memory_order_relaxed) % kLookEvery == 0;
    if (look && message->SpaceUsedLong() > 4 * kMostBytes) return;
    if (free_.Give(message.get())) static_cast<void>(message.release());
  }
  // Keeps none any more: their types may go.
  void Close() {
    for (google::protobuf::Message* const message : free_.Close()) delete message;
  }

 private:
  std::atomic<uint32_t> uses_{0};
  SpareList<google::protobuf::Message, kMostKept, 4> free_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_
