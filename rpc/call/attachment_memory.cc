// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/attachment_memory.h"

#include <algorithm>
#include <cstring>

#include "transport/base/check.h"

namespace farcall {

Buffer AttachmentMemory::Gather(const Buffer& came, uint64_t& copied) const {
  Check(came.size() <= memory_.size(), "what lands has room");
  Compare(came, 0, [&](const char* source, char* target, uint32_t bytes) {
    if (source == target) return;
    // The same memory shifted, if a peer in this process sent it: then they overlap.
    std::memmove(target, source, bytes);
    copied += bytes;
  });
  return Part(0, came.size());
}

size_t AttachmentMemory::Lying(const Buffer& came, size_t skip) const {
  size_t lying = 0;
  Compare(came, skip, [&](const char* source, char* target, uint32_t bytes) {
    if (source == target) lying += bytes;
  });
  return lying;
}

// Calls back for each piece that came: where it is and where it belongs.
void AttachmentMemory::Compare(const Buffer& came, size_t skip, Piece piece) const {
  auto to = memory_.slices().begin();
  uint32_t done = 0;  // bytes of *to
  for (const Buffer::Slice& slice : came.slices()) {
    auto taken = static_cast<uint32_t>(std::min<size_t>(skip, slice.length));
    skip -= taken;
    while (taken < slice.length) {
      const uint32_t part = std::min(slice.length - taken, to->length - done);
      piece(slice.view().data() + taken, to->block->bytes() + to->offset + done, part);
      taken += part;
      done += part;
      if (done < to->length) continue;
      ++to;
      done = 0;
    }
  }
}

Buffer AttachmentMemory::Part(size_t offset, size_t bytes) const {
  Buffer part;
  for (const Buffer::Slice& slice : memory_.slices()) {
    if (bytes == 0) break;
    if (offset >= slice.length) {
      offset -= slice.length;
      continue;
    }
    const size_t length = std::min(bytes, slice.length - offset);
    part.Append(slice.block, slice.offset + static_cast<uint32_t>(offset),
                static_cast<uint32_t>(length));
    bytes -= length;
    offset = 0;
  }
  return part;
}

}  // namespace farcall
