// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TESTING_FD_LIMIT_H_
#define FARCALL_TRANSPORT_TCP_TESTING_FD_LIMIT_H_

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// While it lives the process can open no file descriptor (EMFILE), if those
// that are open have the lowest numbers.
class FdLimit {
 public:
  FdLimit() {
    // UBSan takes descriptors to look at a type that it has not seen yet, as that of errors.
    ErrnoStatus(EMFILE).IgnoreError();
    Check(::getrlimit(RLIMIT_NOFILE, &before_) == 0, "a process has limits");
    const UniqueFd lowest_free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit lowered = before_;
    lowered.rlim_cur = static_cast<rlim_t>(lowest_free.get());
    Check(::setrlimit(RLIMIT_NOFILE, &lowered) == 0, "a limit can be lowered");
  }
  FdLimit(const FdLimit&) = delete;
  FdLimit& operator=(const FdLimit&) = delete;
  ~FdLimit() { Check(::setrlimit(RLIMIT_NOFILE, &before_) == 0, "and raised to what it was"); }

 private:
  rlimit before_{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TESTING_FD_LIMIT_H_
