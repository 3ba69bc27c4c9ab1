// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/socket_writer.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace farcall {

SocketResult SocketWriter::Write(int fd, size_t limit) {
  std::array<iovec, kMaxSlices> vectors;
  size_t count = 0;
  size_t asked = 0;
  for (const Buffer::Slice& slice : queue_.slices()) {
    if (count == kMaxSlices || asked == limit) break;
    const size_t length = std::min<size_t>(slice.length, limit - asked);
    vectors[count++] = {slice.block->bytes() + slice.offset, length};
    asked += length;
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  if (sent >= 0) {
    const auto bytes = static_cast<size_t>(sent);
    queue_.RemoveFront(bytes);
    return {bytes == asked ? SocketProgress::kMore : SocketProgress::kBlocked, bytes};
  }
  if (errno == EAGAIN) return {SocketProgress::kBlocked};
  if (errno == EINTR) return {SocketProgress::kMore};
  if (errno == ENOBUFS || errno == ENOMEM) return {SocketProgress::kNoMemory};
  return {SocketProgress::kFailed, 0, errno};
}

}  // namespace farcall
