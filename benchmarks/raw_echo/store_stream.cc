// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/store_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>

#include "benchmarks/common/store_memory.h"
#include "benchmarks/raw_echo/socket.h"

namespace farcall::bench {
StoreStream::StoreStream(int fd)
    : fd_(fd), reader_(kStoreMemory), values_(std::make_unique<char[]>(kStoreMemory)) {}

bool StoreStream::Turn(int flags) {
  if (unsent_ == 0) {
    const ssize_t got = reader_.Read(fd_, flags);
    if (got <= 0) return got < 0 && TryAgain();
    FrameHeader asked;
    if (!reader_.Next(asked)) return true;
    if (asked.kind != FrameHeader::kStore || asked.answer > kStoreMemory) return false;
    answer_ = asked;
    answer_.length = asked.answer;
    if (answer_.length > kStoreMemory - next_value_) next_value_ = 0;
    unsent_ = sizeof(answer_) + answer_.length;
  }
  return Send(flags);
}

bool StoreStream::Send(int flags) {
  while (unsent_ > 0) {
    const size_t body = std::min<size_t>(unsent_, answer_.length);
    const size_t header = unsent_ - body;
    iovec parts[2] = {
        {reinterpret_cast<char*>(&answer_) + sizeof(answer_) - header, header},
        {values_.get() + next_value_ + answer_.length - body, body},
    };
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = sendmsg(fd_, &message, flags | MSG_NOSIGNAL);
    if (sent < 0) return TryAgain();
    unsent_ -= static_cast<size_t>(sent);
  }
  next_value_ += answer_.length;
  return true;
}

}  // namespace farcall::bench
