// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/unix_socket_file.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"

namespace farcall {
namespace {

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// OK: there is none any more.
absl::Status UnlinkIfStill(const Address& address, const struct stat& file) {
  struct stat now {};
  if (::lstat(address.path().c_str(), &now) != 0 || !SameFile(now, file)) return absl::OkStatus();
  if (::unlink(address.path().c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return Annotate(ErrnoStatus(errno), absl::StrCat("cannot remove ", address.ToString()));
}

}  // namespace

absl::Status UnixSocketFile::RemoveStale(const Address& address) {
  struct stat found {};
  // Whatever else is wrong with the path, bind says it.
  if (::lstat(address.path().c_str(), &found) != 0) return absl::OkStatus();
  if (!S_ISSOCK(found.st_mode)) {
    return absl::AlreadyExistsError(
        absl::StrCat(address.path(), " is there already, and is no socket"));
  }
  auto to = ToSocketAddress(address);
  if (!to.ok()) return to.status();
  auto fd = OpenStreamSocket(AF_UNIX);
  if (!fd.ok()) return fd.status();
  // EAGAIN: there is a listener, and its queue is full.
  if (::connect(fd->get(), to->get(), to->length) == 0 || errno == EAGAIN) {
    return absl::AlreadyExistsError("already in use: a server listens there");
  }
  if (errno == ENOENT) return absl::OkStatus();
  if (errno != ECONNREFUSED) {
    return Annotate(ErrnoStatus(errno), "cannot tell whether a server listens there");
  }
  return UnlinkIfStill(address, found);
}

UnixSocketFile::UnixSocketFile(const Address& address) : address_(address) {
  if (::lstat(address_.path().c_str(), &made_) != 0) address_ = Address();
}

void UnixSocketFile::Remove() {
  if (address_.family() != AddressFamily::kUnix) return;
  // Failing leaves a stale file, which the next listener removes.
  UnlinkIfStill(std::exchange(address_, Address()), made_).IgnoreError();
}

}  // namespace farcall
