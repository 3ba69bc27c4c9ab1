// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_PROCESS_TEST_PROCESS_H_
#define FARCALL_RPC_TESTING_PROCESS_TEST_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "transport/base/unique_fd.h"

namespace farcall {

// This very program again, as another process with other arguments. One thread.
class TestProcess {
 public:
  explicit TestProcess(const std::vector<std::string>& arguments);
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;
  // Kills it, if it lives.
  ~TestProcess() { Kill(); }

  // The next line of its standard output; null: it has ended, or is silent for longer
  // than kTestTimeout.
  std::optional<std::string> ReadLine();
  // SIGSTOP: none of its threads runs when this returns. SIGCONT.
  void Pause();
  void Continue();
  // SIGKILL, and waits for its end.
  void Kill();

 private:
  void Signal(int signal);

  pid_t pid_ = -1;  // -1: it has ended
  UniqueFd output_;
  std::string read_;
};

// For main() of such a process: it ends with the one that started it.
void EndWithParent();

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_PROCESS_TEST_PROCESS_H_
