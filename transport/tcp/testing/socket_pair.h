// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TESTING_SOCKET_PAIR_H_
#define FARCALL_TRANSPORT_TCP_TESTING_SOCKET_PAIR_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// Two ends of one connection, both non-blocking.
struct SocketPair {
  static SocketPair Unix();
  static SocketPair Tcp();  // over 127.0.0.1

  UniqueFd mine;
  UniqueFd other;
};

// What a non-blocking socket takes of `bytes`, and all that it has.
size_t SendSome(int fd, absl::string_view bytes);
std::string ReceiveAll(int fd);
// Whether the socket has nothing left to read and the end of file behind it.
bool AtEnd(int fd);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TESTING_SOCKET_PAIR_H_
