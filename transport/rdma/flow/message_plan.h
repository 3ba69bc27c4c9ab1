// SPDX-License-Identifier: Apache-2.0
//
// How the bytes that wait to be sent are cut into messages: which go where they are, and
// which are copied. A segment of a work request costs the device about as much as a small
// copy costs the CPU, so small slices are copied; so is memory that the device does not know.
// Large slices may stay where they are for the peer to fetch: then the message has a reference.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_PLAN_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "transport/buffer/block.h"
#include "transport/buffer/buffer.h"
#include "transport/rdma/flow/message_header.h"

namespace farcall {

struct MessageLimits {
  // kMessageHeaderBytes, or 0: messages have none.
  uint32_t header = kMessageHeaderBytes;
  // The peer's receive block, the header included.
  uint32_t max_message = 64 << 10;
  // Segments of a work request; the first has the header. >= 1; more than
  // MessagePlan::kMaxSegments are not used.
  uint32_t max_segments = 4;
  // Messages of up to so many bytes, header included, are given to the device inside the
  // work request, from memory that it need not know. 0: none.
  uint32_t max_inline = 0;
  // Slices of fewer bytes are copied rather than given a segment.
  uint32_t copy_below = 512;
  // Bytes that may be copied into one message. > 0
  uint32_t max_copy = 64 << 10;
  // Of a slice with at least so many bytes (left), which the device knows, a reference is sent.
  // 0: never.
  uint32_t reference_from = 0;
  // Bytes of one reference, at most. > 0
  uint32_t max_reference = RemoteBytes::kMax;
};

// One message, from the front of what waits. Its bytes are, in order, those of its segments;
// the header comes before them, in the same segment as the first copied bytes if the message
// begins with such. A reference stands where copied bytes would: `bytes` are those of the first
// slice that it is of, and none is copied.
struct MessagePlan {
  static constexpr size_t kMaxSegments = 16;
  static constexpr uint32_t kCopied = ~0u;

  struct Segment {
    uint32_t slice;   // index of the slice that it is of, or kCopied
    uint32_t offset;  // in the slice, or among all copied bytes
    uint32_t length;  // > 0, but of the first, which has the header

    bool operator==(const Segment&) const = default;
  };

  uint32_t header = kMessageHeaderBytes;  // MessageLimits::header
  uint32_t bytes = 0;                     // of the stream, in all
  uint32_t copied = 0;                    // of them
  uint32_t unknown = 0;      // of those, in larger slices that the device does not know
  bool reference = false;    // to the bytes, which do not follow
  bool measured = false;     // the caller's: a reference might have been sent instead
  bool send_inline = false;  // all is in the first segment, and leaves as IBV_SEND_INLINE
  uint32_t segment_count = 1;
  // segments[0] is the header and the copied bytes right after it, perhaps none.
  std::array<Segment, kMaxSegments> segments;

  // Those behind segment_count are not written: that would take longer than a plan.
  MessagePlan() { segments[0] = {.slice = kCopied, .offset = 0, .length = 0}; }

  // Of the first segment's memory and of all other copied bytes.
  uint32_t own_bytes() const {
    return header + (reference ? static_cast<uint32_t>(RemoteBytes::kEncodedBytes) : copied);
  }
};

// Whether the device knows the block. Asked once for a slice that might go where it is.
using IsKnown = absl::FunctionRef<bool(const Block&)>;

// The next message of `slices` without their first `skip` bytes (less than the first slice
// has). Takes as many bytes as fit, at least one if there is one. No allocation.
MessagePlan PlanMessage(std::span<const Buffer::Slice> slices, uint32_t skip,
                        const MessageLimits& limits, IsKnown is_known);

// Copies the bytes that `plan` says to `out`, which has room for plan.copied: they follow the
// header. With what PlanMessage was given.
void GatherCopied(std::span<const Buffer::Slice> slices, uint32_t skip, const MessagePlan& plan,
                  char* out);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_PLAN_H_
