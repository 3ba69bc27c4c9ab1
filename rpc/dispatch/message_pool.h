// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_
#define FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "google/protobuf/message.h"
#include "transport/base/threads/spare_list.h"

namespace farcall {

// The messages of a call.
struct CallMessages {
  std::unique_ptr<google::protobuf::Message> request;
  std::unique_ptr<google::protobuf::Message> response;
};

// Messages of one method, which come and go with each call: those that were given back are kept,
// with the memory of their fields, and used again. Any thread.
class MessagePool {
 public:
  // A larger one is not kept: its memory would be held for nothing.
  static constexpr size_t kMaxBytes = size_t{16} << 10;
  static constexpr size_t kMaxKept = 64;  // pairs
  // Odd, so that all methods have their turn whose calls take turns.
  static constexpr uint32_t kLookEvery = 31;
  // A size that was not measured.
  static constexpr size_t kUnmeasured = ~size_t{0};

  MessagePool() = default;
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;
  ~MessagePool() { Close(); }

  // Empty, of the types of what `make()` gives, which are always the same.
  template <typename Make>
  std::unique_ptr<CallMessages> Take(Make&& make) {
    CallMessages* const kept = free_.Take();
    return std::unique_ptr<CallMessages>(kept != nullptr ? kept : new CallMessages(make()));
  }
  // The bytes that each has when it is serialized, as far as somebody has measured them.
  void Give(std::unique_ptr<CallMessages> messages, size_t request_bytes = kUnmeasured,
            size_t response_bytes = kUnmeasured) {
    if (!Empty(*messages->request, request_bytes)) return;
    if (!Empty(*messages->response, response_bytes)) return;
    // What fields keep when they are cleared adds up over calls. It takes a while to find out.
    if (++uses_ >= kLookEvery) {
      uses_ = 0;
      if (Grown(*messages->request) || Grown(*messages->response)) return;
    }
    if (free_.Give(messages.get())) static_cast<void>(messages.release());
  }
  // Keeps none any more: their types may go.
  void Close() {
    for (CallMessages* const messages : free_.Close()) delete messages;
  }

 private:
  // False: it is too large.
  static bool Empty(google::protobuf::Message& message, size_t bytes) {
    if ((bytes == kUnmeasured ? message.ByteSizeLong() : bytes) > kMaxBytes) return false;
    message.Clear();
    return true;
  }
  static bool Grown(const google::protobuf::Message& message) {
    return message.SpaceUsedLong() > 4 * kMaxBytes;
  }

  // Of all pools, by this thread, since it last looked.
  static inline thread_local constinit uint32_t uses_ = 0;

  SpareList<CallMessages, kMaxKept, 4> free_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_MESSAGE_POOL_H_
