// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/server_life.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

// A server in a process of its own, with a pipe as its standard input and output.
class ServerLifeTest : public testing::Test {
 protected:
  void StartServer(bool exit_with_stdin) {
    int in[2];
    int out[2];
    ASSERT_EQ(pipe(in), 0);
    ASSERT_EQ(pipe(out), 0);
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      alarm(10);  // the bound of every wait here, since the parent waits for the child
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      close(in[1]);
      absl::StatusOr<ServerLife> life = ServerLife::Begin(exit_with_stdin);
      if (!life.ok()) _exit(2);
      ServerLife::Announce("127.0.0.1:7");
      life->WaitForEnd();
      _exit(0);
    }
    input_ = UniqueFd(in[1]);
    close(in[0]);
    close(out[1]);
    char line[64] = {};
    const ssize_t got = read(out[0], line, sizeof(line) - 1);
    close(out[0]);
    ASSERT_GT(got, 0);
    EXPECT_STREQ(line, "listening on 127.0.0.1:7\n");
  }

  // -1: it was killed by a signal.
  int ExitCode() {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t child_ = -1;
  UniqueFd input_;
};

TEST_F(ServerLifeTest, EndsInOrderOnSigterm) {
  StartServer(false);
  ASSERT_EQ(kill(child_, SIGTERM), 0);
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(ServerLifeTest, EndsInOrderOnSigint) {
  StartServer(true);
  ASSERT_EQ(kill(child_, SIGINT), 0);
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(ServerLifeTest, EndsWithItsStandardInputIfAsked) {
  StartServer(true);
  input_.Reset();
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(ServerLifeTest, BytesOnStandardInputDoNotEndIt) {
  StartServer(true);
  ASSERT_EQ(write(input_.get(), "hello", 5), 5);
  input_.Reset();
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(ServerLifeTest, OutlivesItsStandardInputOtherwise) {
  StartServer(false);
  input_.Reset();
  // It is still there to be ended by the signal: an exit before would have the same code,
  // so the wait must not find it gone.
  int status = 0;
  EXPECT_EQ(waitpid(child_, &status, WNOHANG), 0);
  ASSERT_EQ(kill(child_, SIGTERM), 0);
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(ServerLifeTest, ABrokenPipeDoesNotKillIt) {
  StartServer(false);
  ASSERT_EQ(kill(child_, SIGPIPE), 0);
  ASSERT_EQ(kill(child_, SIGTERM), 0);
  EXPECT_EQ(ExitCode(), 0);
}

}  // namespace
}  // namespace farcall::bench
