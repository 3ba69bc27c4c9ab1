// SPDX-License-Identifier: Apache-2.0

#include "transport/base/thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {

absl::StatusOr<std::thread> StartThread(const char* name, absl::AnyInvocable<void()> run) {
  // A thread inherits the mask of its maker.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::StatusOr<std::thread> result;
  try {
    result = std::thread([run = std::move(run), name]() mutable {
      pthread_setname_np(pthread_self(), name);
      run();
    });
  } catch (const std::system_error& error) {
    result = absl::ResourceExhaustedError(
        absl::StrCat("cannot start thread ", name, ": ", error.what(),
                     "; look at ulimit -u and the pids limit of the cgroup"));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

}  // namespace farcall
