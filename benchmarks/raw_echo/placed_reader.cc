// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/placed_reader.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace farcall::bench {

PlacedReader::PlacedReader(size_t memory)
    : size_(memory), memory_(std::make_unique<char[]>(memory)) {}

ssize_t PlacedReader::Read(int fd, int flags) {
  const bool in_body = got_header_ == sizeof(header_);
  FrameHeader next;
  iovec parts[2] = {
      {reinterpret_cast<char*>(&header_) + got_header_, sizeof(header_) - got_header_},
      {&next, sizeof(next)}};
  if (in_body) parts[0] = {memory_.get() + place_ + got_body_, header_.length - got_body_};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = in_body ? 2 : 1;
  const ssize_t got = recvmsg(fd, &message, flags);
  if (got <= 0) return got;
  const size_t first = std::min(static_cast<size_t>(got), parts[0].iov_len);
  if (in_body) {
    got_body_ += first;
    if (got_body_ < header_.length) return got;
    whole_ = true;
    last_ = header_;
    place_ += header_.length;
    header_ = next;
    got_header_ = static_cast<size_t>(got) - first;
    got_body_ = 0;
  } else {
    got_header_ += first;
  }
  if (got_header_ < sizeof(header_) || BeginBody()) return got;
  errno = EMSGSIZE;
  return -1;
}

bool PlacedReader::BeginBody() {
  if (header_.length == 0 || header_.length > size_) return false;
  if (header_.length > size_ - place_) place_ = 0;
  return true;
}

bool PlacedReader::Next(FrameHeader& header) {
  header = last_;
  return std::exchange(whole_, false);
}

}  // namespace farcall::bench
