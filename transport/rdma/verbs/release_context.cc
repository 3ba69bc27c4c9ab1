// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/verbs/release_context.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/unique_fd.h"

namespace farcall {
namespace {

// The kernel has the same words for a file in fd and in maps, proc(5). 0, EBUSY or an errno.
int WhyMapped(int fd) {
  std::array<char, 4096> path;
  const ssize_t length =
      readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path.data(), path.size());
  if (length < 0) return errno;
  const std::string ending(path.data(), static_cast<size_t>(length));
  std::ifstream maps("/proc/self/maps");
  if (!maps) return EACCES;
  for (std::string line; std::getline(maps, line);) {
    if (absl::EndsWith(line, absl::StrCat(" ", ending))) return EBUSY;
  }
  return 0;
}

}  // namespace

int ReleaseContext(ibv_context* context) {
  if (const int error = WhyMapped(context->cmd_fd); error != 0) return error;
  const UniqueFd nothing(open("/", O_PATH | O_CLOEXEC));
  if (!nothing.valid()) return errno;
  // The events first: without commands there is nothing to send them.
  for (const int fd : {context->async_fd, context->cmd_fd}) {
    if (dup3(nothing.get(), fd, O_CLOEXEC) < 0) return errno;
  }
  return 0;
}

}  // namespace farcall
