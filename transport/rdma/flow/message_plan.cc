// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/message_plan.h"

#include <algorithm>
#include <cstring>

#include "transport/base/check.h"

namespace farcall {
namespace {

// A place in the bytes of slices.
struct Cursor {
  std::span<const Buffer::Slice> slices;
  uint32_t index = 0;
  uint32_t offset = 0;  // in that slice, less than its length

  bool done() const { return index == slices.size(); }
  const Buffer::Slice& slice() const { return slices[index]; }
  uint32_t left() const { return slice().length - offset; }
  // bytes <= left()
  void Skip(uint32_t bytes) {
    offset += bytes;
    if (offset < slice().length) return;
    ++index;
    offset = 0;
  }
};

// All bytes, if they are few enough to go inline; else 0.
uint32_t InlineBytes(Cursor cursor, const MessageLimits& limits) {
  const uint32_t most = std::min(limits.max_inline, limits.max_message);
  uint32_t bytes = limits.header;
  while (!cursor.done()) {
    if (cursor.left() > most - std::min(most, bytes)) return 0;
    bytes += cursor.left();
    cursor.Skip(cursor.left());
  }
  return bytes - limits.header;
}

// Puts `bytes` more of the copied ones at the end. False: that takes a segment too many.
bool AddCopied(uint32_t bytes, uint32_t max_segments, MessagePlan& plan) {
  if (plan.segments[plan.segment_count - 1].slice != MessagePlan::kCopied) {
    if (plan.segment_count == max_segments) return false;
    plan.segments[plan.segment_count++] = {
        .slice = MessagePlan::kCopied, .offset = plan.copied, .length = 0};
  }
  plan.segments[plan.segment_count - 1].length += bytes;
  plan.copied += bytes;
  return true;
}

bool AddReference(const Cursor& cursor, uint32_t bytes, uint32_t max_segments, MessagePlan& plan) {
  if (plan.segment_count == max_segments) return false;
  plan.segments[plan.segment_count++] = {
      .slice = cursor.index, .offset = cursor.offset, .length = bytes};
  return true;
}

// Whether a reference is sent of what stands there.
bool IsReferred(const Cursor& cursor, const MessageLimits& limits, IsKnown is_known) {
  return limits.reference_from > 0 && cursor.left() >= limits.reference_from &&
         is_known(*cursor.slice().block);
}

MessagePlan PlanReference(const Cursor& cursor, const MessageLimits& limits) {
  constexpr uint32_t kEncoded = RemoteBytes::kEncodedBytes;
  MessagePlan plan;
  plan.reference = true;
  plan.bytes = std::min(cursor.left(), limits.max_reference);
  // A rest that would be too small for a reference comes with it, so that nothing of a large slice
  // is sent, and copied where it comes.
  if (cursor.left() - plan.bytes < limits.reference_from) {
    plan.bytes = std::min(cursor.left(), RemoteBytes::kMax);
  }
  plan.send_inline = limits.max_inline >= plan.header + kEncoded;
  plan.segments[0].length = kEncoded;
  return plan;
}

}  // namespace

MessagePlan PlanMessage(std::span<const Buffer::Slice> slices, uint32_t skip,
                        const MessageLimits& limits, IsKnown is_known) {
  Check(limits.max_message > limits.header && limits.max_segments > 0 && limits.max_copy > 0,
        "there is room for a header and a byte");
  const auto max_segments =
      std::min<uint32_t>(limits.max_segments, uint32_t{MessagePlan::kMaxSegments});
  Cursor cursor{.slices = slices, .offset = skip};
  MessagePlan plan;
  plan.header = limits.header;
  plan.bytes = InlineBytes(cursor, limits);
  if (plan.bytes > 0 || (slices.empty() && limits.max_inline >= limits.header)) {
    plan.send_inline = true;
    plan.copied = plan.segments[0].length = plan.bytes;
    return plan;
  }
  if (!cursor.done() && IsReferred(cursor, limits, is_known)) return PlanReference(cursor, limits);
  for (uint32_t room = limits.max_message - limits.header; room > 0 && !cursor.done();) {
    if (plan.bytes > 0 && IsReferred(cursor, limits, is_known)) break;
    const Block& block = *cursor.slice().block;
    uint32_t bytes = std::min(cursor.left(), room);
    const bool unknown = bytes >= limits.copy_below && !is_known(block);
    bool copy = unknown || bytes < limits.copy_below;
    // With a single segment all is copied, a slice to a message.
    if (max_segments == 1 && plan.bytes == 0) copy = true;
    if (copy) bytes = std::min(bytes, limits.max_copy - plan.copied);
    if (bytes == 0) break;
    const bool added = copy ? AddCopied(bytes, max_segments, plan)
                            : AddReference(cursor, bytes, max_segments, plan);
    if (!added) break;
    if (unknown) plan.unknown += bytes;
    plan.bytes += bytes;
    room -= bytes;
    cursor.Skip(bytes);
  }
  return plan;
}

void GatherCopied(std::span<const Buffer::Slice> slices, uint32_t skip, const MessagePlan& plan,
                  char* out) {
  if (plan.reference) return;
  if (plan.segment_count == 1 && skip == 0) {
    // All is copied, as most often.
    uint32_t left = plan.copied;
    for (const Buffer::Slice& slice : slices) {
      if (left == 0) return;
      const uint32_t bytes = std::min(left, slice.length);
      std::memcpy(out, slice.view().data(), bytes);
      out += bytes;
      left -= bytes;
    }
    return;
  }
  Cursor cursor{.slices = slices, .offset = skip};
  for (uint32_t i = 0; i < plan.segment_count; ++i) {
    const bool copy = plan.segments[i].slice == MessagePlan::kCopied;
    for (uint32_t left = plan.segments[i].length; left > 0;) {
      const uint32_t bytes = std::min(left, cursor.left());
      if (copy) {
        std::memcpy(out, cursor.slice().view().data() + cursor.offset, bytes);
        out += bytes;
      }
      cursor.Skip(bytes);
      left -= bytes;
    }
  }
}

}  // namespace farcall
