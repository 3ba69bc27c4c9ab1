// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_file_look.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/naming/naming_list.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"

namespace farcall {
namespace {

// The grain of a file's times may be coarse: a write soon after another may leave the same ones.
// Linux: a tick, at most 10 ms; others that files may come from: up to 2 s.
constexpr std::chrono::seconds kGrain{2};

NamingFileLook::WallTime FromTimespec(const timespec& time) {
  return NamingFileLook::WallTime(std::chrono::duration_cast<std::chrono::system_clock::duration>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

// At most kMaxServerListBytes.
absl::StatusOr<std::string> ReadAll(int fd) {
  std::string text(kMaxServerListBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > kMaxServerListBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has more than ", kMaxServerListBytes, " bytes, which is the limit"));
  }
  text.resize(size);
  return text;
}

}  // namespace

NamingFileLook::Result NamingFileLook::Look(WallTime now) {
  const auto fail = [&](const absl::Status& why) {
    stamp_.reset();
    return Result{Result::What::kRead, why};
  };
  // A FIFO must not block, and a terminal not become ours.
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) return fail(ErrnoStatus(errno));
  if (!S_ISREG(status.st_mode)) return fail(absl::InvalidArgumentError("it is no regular file"));
  const Stamp stamp{status.st_dev, status.st_ino, status.st_size, FromTimespec(status.st_mtim),
                    FromTimespec(status.st_ctim)};
  if (stamp_ == stamp) return {};
  const auto age = now - stamp.modified;
  if (known_ && age >= age.zero() && age < kSettled) return {Result::What::kYoung};
  Result result = Read(fd.get(), stamp, now);
  return result.nodes.ok() ? std::move(result) : fail(result.nodes.status());
}

NamingFileLook::Result NamingFileLook::Read(int fd, const Stamp& stamp, WallTime now) {
  const absl::StatusOr<std::string> text = ReadAll(fd);
  if (!text.ok()) return {Result::What::kRead, text.status()};
  Result result{Result::What::kRead, ParseServerFile(*text)};
  if (!result.nodes.ok()) return result;
  known_ = true;
  stamp_.reset();
  if (now - std::max(stamp.modified, stamp.changed) > kGrain) stamp_ = stamp;
  return result;
}

}  // namespace farcall
