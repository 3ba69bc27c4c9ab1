// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/thread.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/host/cores.h"

namespace farcall {
namespace {

sigset_t Blocked() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    sigdelset(&set, signal);
  }
  return set;
}

// What may use all that there is is left as it is: the kernel gives it what a cpuset gets later.
bool MayUseMore(const std::vector<int>& cpus) {
  const std::vector<int> now = AllowedCpus();
  return now.size() < cpus.size() &&
         std::includes(cpus.begin(), cpus.end(), now.begin(), now.end());
}

}  // namespace

absl::StatusOr<std::thread> StartThread(const char* name, absl::AnyInvocable<void()> run,
                                        std::vector<int> cpus) {
  // A thread inherits the mask of its maker.
  const sigset_t blocked = Blocked();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  absl::StatusOr<std::thread> result;
  try {
    result = std::thread(
        [run = std::move(run), name = std::string(name), cpus = std::move(cpus)]() mutable {
          pthread_setname_np(pthread_self(), name.c_str());
          if (MayUseMore(cpus)) static_cast<void>(RunOnlyOn(cpus));
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
