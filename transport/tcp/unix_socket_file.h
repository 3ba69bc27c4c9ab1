// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_UNIX_SOCKET_FILE_H_
#define FARCALL_TRANSPORT_TCP_UNIX_SOCKET_FILE_H_

#include <sys/stat.h>

#include "absl/status/status.h"
#include "transport/address.h"

namespace farcall {

// The file of a listening unix socket: bind(2) makes it, nothing in the kernel removes
// it, and while it is there no other socket can bind to its path. One thread at a time.
class UnixSocketFile {
 public:
  // Before bind. Removes the file that a former process left, where nothing listens any
  // more; asks by a connect(2), which a living listener sees as a connection without a
  // byte. kAlreadyExists: a socket listens there, or it is no socket.
  static absl::Status RemoveStale(const Address& address);

  // Owns nothing.
  UnixSocketFile() = default;
  // The file that bind(2) has just made for `address`.
  explicit UnixSocketFile(const Address& address);
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;
  ~UnixSocketFile() { Remove(); }

  // Unless another file has taken the path since.
  void Remove();

 private:
  Address address_;
  struct stat made_ {};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_UNIX_SOCKET_FILE_H_
