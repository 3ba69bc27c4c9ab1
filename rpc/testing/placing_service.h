// SPDX-License-Identifier: Apache-2.0
//
// For tests: a service that puts attachments of requests into memory of its own, with a canary
// behind each place.

#ifndef FARCALL_RPC_TESTING_PLACING_SERVICE_H_
#define FARCALL_RPC_TESTING_PLACING_SERVICE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rpc/attachment_placer.h"
#include "rpc/runtime/runtime.h"
#include "rpc/testing/scripted_service.h"

namespace farcall {

// Any thread. Outlives the server, as long as that lives.
class PlacingService final : public AttachmentPlacer {
 public:
  // As many places as calls may be under way, each for `bytes`.
  PlacingService(Runtime& runtime, size_t places, size_t bytes)
      : bytes_(bytes), arena_(places * (bytes + kCanary), kCanaryByte) {
    memory_ = *runtime.RegisterMemory({reinterpret_cast<std::byte*>(arena_.data()), arena_.size()});
    for (size_t i = 0; i < places; ++i) free_.push_back(i);
  }

  void Place(const IncomingRequest& request, PlaceReply reply) override {
    ++asked;
    if (later) {
      const std::lock_guard<std::mutex> lock(mutex_);
      waiting_.push_back(std::move(reply));
      return;
    }
    if (request.attachment_bytes > bytes_) return reply.Refuse(kBadRequest, "too large");
    Give(std::move(reply));
  }
  // Who waits for a place gets one.
  void Go() {
    std::vector<PlaceReply> waiting;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      waiting.swap(waiting_);
    }
    for (PlaceReply& reply : waiting) Give(std::move(reply));
  }

  // The place that an attachment lies in; -1: in none. For a handler.
  int PlaceOf(const Buffer& attachment) const {
    const auto slices = attachment.slices();
    if (slices.size() != 1) return -1;
    const char* const begin = slices[0].view().data();
    if (begin < arena_.data() || begin >= arena_.data() + arena_.size()) return -1;
    const auto at = static_cast<size_t>(begin - arena_.data());
    return at % (bytes_ + kCanary) == 0 ? static_cast<int>(at / (bytes_ + kCanary)) : -1;
  }
  // The handler is done with it.
  void Free(int place) { Return(static_cast<size_t>(place)); }

  RegisteredMemory& memory() { return memory_; }
  // What was given back by now: OK, or how it failed.
  std::vector<absl::Status> ended() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ended_;
  }
  int waiting() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int>(waiting_.size());
  }
  bool all_back() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return free_.size() == arena_.size() / (bytes_ + kCanary);
  }
  // Whether the bytes beside the places, and those of the places that are not in use, are as the
  // service left them.
  bool Sound() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const absl::string_view all = arena_;
    const auto untouched = [&](size_t at, size_t bytes) {
      return all.substr(at, bytes).find_first_not_of(kCanaryByte) == absl::string_view::npos;
    };
    for (size_t place = 0; place * (bytes_ + kCanary) < arena_.size(); ++place) {
      if (!untouched(place * (bytes_ + kCanary) + bytes_, kCanary)) return false;
    }
    return std::all_of(free_.begin(), free_.end(),
                       [&](size_t place) { return untouched(place * (bytes_ + kCanary), bytes_); });
  }

  std::atomic<bool> later{false};  // places are said by Go
  std::atomic<int> asked{0};

 private:
  static constexpr size_t kCanary = 4096;
  static constexpr char kCanaryByte = '#';

  void Give(PlaceReply reply) {
    size_t place = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (free_.empty()) return reply.Refuse(kOvercrowded, "no place is free");
      place = free_.front();
      free_.pop_front();
    }
    reply.Memory(memory_.Slice(place * (bytes_ + kCanary), bytes_),
                 [this, place](const absl::Status& how) {
                   if (!how.ok()) Return(place);
                   const std::lock_guard<std::mutex> lock(mutex_);
                   ended_.push_back(how);
                 });
  }
  void Return(size_t place) {
    std::fill_n(arena_.data() + place * (bytes_ + kCanary), bytes_, kCanaryByte);
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(place);
  }

  const size_t bytes_;
  std::string arena_;
  RegisteredMemory memory_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<size_t> free_;
  std::vector<PlaceReply> waiting_;
  std::vector<absl::Status> ended_;
};

// Compares what came with the pattern, says in the answer whether it is that and lies in a place,
// and gives the place back.
inline EchoHandler PutInto(PlacingService& service,
                           std::function<bool(const Buffer& attachment)> right) {
  return [&service, right = std::move(right)](
             Controller& controller, const test::EchoRequest& request, test::EchoResponse& response,
             google::protobuf::Closure* done) {
    Buffer& attachment = controller.request_attachment();
    const int place = service.PlaceOf(attachment);
    const bool well = right(attachment);
    attachment.Clear();
    if (place >= 0) service.Free(place);
    response.set_message(!well ? "wrong" : place >= 0 ? "placed" : request.message());
    done->Run();
  };
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_PLACING_SERVICE_H_
