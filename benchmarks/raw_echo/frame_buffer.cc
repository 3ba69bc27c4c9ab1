// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/frame_buffer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace farcall::bench {

FrameBuffer::FrameBuffer(size_t bytes)
    : capacity_(std::max(bytes, 4 * sizeof(FrameHeader))),
      data_(std::make_unique_for_overwrite<char[]>(capacity_)) {}

void FrameBuffer::GrowTo(size_t bytes) {
  auto larger = std::make_unique_for_overwrite<char[]>(bytes);
  std::memcpy(larger.get(), data_.get(), filled_);
  data_ = std::move(larger);
  capacity_ = bytes;
}

// Of the frame that is not all there yet; 0 while its length is not known.
size_t FrameBuffer::FrontFrameSize() const {
  if (filled_ - cut_ < sizeof(FrameHeader)) {
    return 0;
  }
  FrameHeader header;
  std::memcpy(&header, data_.get() + cut_, sizeof(header));
  return sizeof(header) + header.length;
}

absl::Span<char> FrameBuffer::Space() {
  const size_t front = FrontFrameSize();
  // A frame of some size is read to its end and no further, so that it never has to be
  // moved; small ones are read by the buffer.
  const bool exact = front >= capacity_ / 4;
  const size_t wanted = exact ? front - (filled_ - cut_) : capacity_ / 4;
  if (begin_ == filled_) {
    begin_ = cut_ = filled_ = 0;
  } else if (capacity_ - filled_ < wanted && begin_ > 0) {
    std::memmove(data_.get(), data_.get() + begin_, filled_ - begin_);
    cut_ -= begin_;
    filled_ -= begin_;
    begin_ = 0;
  }
  if (capacity_ - filled_ < wanted) {
    GrowTo(filled_ + wanted);
  }
  return {data_.get() + filled_, exact ? wanted : capacity_ - filled_};
}

void FrameBuffer::Commit(size_t bytes) { filled_ += bytes; }

bool FrameBuffer::Next(Frame& frame) {
  const size_t size = FrontFrameSize();
  if (size > sizeof(FrameHeader) + FrameHeader::kMaxBody) {
    bad_ = absl::InvalidArgumentError("a frame of " + std::to_string(size) + " bytes came");
    return false;
  }
  if (size == 0 || filled_ - cut_ < size) {
    return false;
  }
  char* start = data_.get() + cut_;
  std::memcpy(&frame.header, start, sizeof(frame.header));
  frame.body = {start + sizeof(frame.header), frame.header.length};
  cut_ += size;
  return true;
}

absl::Span<const char> FrameBuffer::whole() const { return {data_.get() + begin_, cut_ - begin_}; }

void FrameBuffer::Drop(size_t bytes) { begin_ += bytes; }

}  // namespace farcall::bench
