// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_SOCKET_RESULT_H_
#define FARCALL_TRANSPORT_TCP_SOCKET_RESULT_H_

#include <cstddef>
#include <cstdint>

namespace farcall {

// What a system call on a non-blocking socket came to.
enum class SocketProgress : uint8_t {
  kMore,      // all that was asked for went; there may be more
  kBlocked,   // less went, perhaps nothing: the kernel tells when more can, epoll(7)
  kEnd,       // end of file
  kNoMemory,  // the pool or the kernel has none now; nothing went
  kFailed,
};

struct SocketResult {
  SocketProgress progress = SocketProgress::kBlocked;
  size_t bytes = 0;
  int error = 0;  // errno, with kFailed
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_SOCKET_RESULT_H_
