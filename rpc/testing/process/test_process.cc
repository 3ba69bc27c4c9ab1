// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/process/test_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

TestProcess::TestProcess(const std::vector<std::string>& arguments) {
  int ends[2];
  Check(::pipe2(ends, O_CLOEXEC) == 0, "a test gets file descriptors");
  output_ = UniqueFd(ends[0]);
  const UniqueFd input(ends[1]);

  std::vector<std::string> words = {"farcall_test_process"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  const int error = ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  Check(error == 0, "a test starts processes");
}

std::optional<std::string> TestProcess::ReadLine() {
  for (;;) {
    const size_t end = read_.find('\n');
    if (end != std::string::npos) {
      const std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    pollfd ready{output_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 1000 * static_cast<int>(kTestTimeout.count())) != 1) return {};
    char bytes[512];
    const ssize_t got = ::read(output_.get(), bytes, sizeof(bytes));
    if (got <= 0) return {};
    read_.append(bytes, static_cast<size_t>(got));
  }
}

void TestProcess::Signal(int signal) {
  Check(pid_ > 0 && ::kill(pid_, signal) == 0, "a process that lives takes signals");
}

void TestProcess::Pause() {
  Signal(SIGSTOP);
  Check(::waitpid(pid_, nullptr, WUNTRACED) == pid_, "a child that is stopped says so");
}

void TestProcess::Continue() { Signal(SIGCONT); }

void TestProcess::Kill() {
  if (pid_ < 0) return;
  Signal(SIGKILL);
  Check(::waitpid(pid_, nullptr, 0) == pid_, "a killed child ends");
  pid_ = -1;
}

void EndWithParent() { Check(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "prctl(2) knows this"); }

}  // namespace farcall
