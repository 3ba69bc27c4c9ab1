// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_PROCESS_CHILD_PROCESS_H_
#define FARCALL_RPC_TESTING_PROCESS_CHILD_PROCESS_H_

#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "rpc/testing/process/quiet_fork.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

// A child that hangs is ended by SIGALRM.
inline void EndInTime() {
  ::signal(SIGALRM, SIG_DFL);
  ::alarm(static_cast<unsigned>(2 * kTestTimeout.count()));
}

// Its exit status; that of a signal is negative.
inline int WaitForExit(pid_t child) {
  int status = 0;
  Check(::waitpid(child, &status, 0) == child, "a child ends");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Runs `work` in a child that QuietFork makes of this process, and returns what it returns. The
// child ends by _exit(2).
inline int InChild(const std::function<int()>& work) {
  const pid_t child = QuietFork();
  Check(child >= 0, "a test makes processes");
  if (child == 0) {
    EndInTime();
    ::_exit(work());
  }
  return WaitForExit(child);
}

// Runs this very program with `argument`; returns how it ended.
inline int RunSelf(const std::string& argument) {
  std::string name = "farcall_test_process";
  std::string word = argument;
  char* argv[] = {name.data(), word.data(), nullptr};
  pid_t child = -1;
  Check(::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv, environ) == 0,
        "a test starts processes");
  return WaitForExit(child);
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_PROCESS_CHILD_PROCESS_H_
