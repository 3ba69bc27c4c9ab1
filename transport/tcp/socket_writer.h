// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_SOCKET_WRITER_H_
#define FARCALL_TRANSPORT_TCP_SOCKET_WRITER_H_

#include <cstddef>
#include <utility>

#include "transport/buffer/buffer.h"
#include "transport/tcp/socket_result.h"

namespace farcall {

// What waits to be written to a socket. One thread at a time.
class SocketWriter {
 public:
  void Append(Buffer data) { queue_.Append(std::move(data)); }
  size_t backlog() const { return queue_.size(); }
  void Clear() { queue_ = Buffer(); }

  // One sendmsg(2), without SIGPIPE, of at most `limit` (> 0) bytes of a backlog above 0.
  SocketResult Write(int fd, size_t limit);

 private:
  // A turn's frames are packed into few slices; attachments add one or two each. The
  // kernel takes up to 1024, IOV_MAX.
  static constexpr size_t kMaxSlices = 256;

  Buffer queue_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_SOCKET_WRITER_H_
