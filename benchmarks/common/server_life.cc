// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/server_life.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace farcall::bench {

absl::StatusOr<ServerLife> ServerLife::Begin(bool exit_with_stdin) {
  signal(SIGPIPE, SIG_IGN);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  const int error = pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  if (error != 0) {
    return absl::ErrnoToStatus(error, "cannot block SIGTERM");
  }
  UniqueFd signals(signalfd(-1, &ends, SFD_CLOEXEC));
  if (!signals.valid()) {
    return absl::ErrnoToStatus(errno, "cannot watch for SIGTERM by signalfd");
  }
  return ServerLife(std::move(signals), exit_with_stdin);
}

ServerLife::ServerLife(UniqueFd signals, bool exit_with_stdin)
    : signals_(std::move(signals)), exit_with_stdin_(exit_with_stdin) {}

void ServerLife::Announce(absl::string_view address) {
  std::printf("listening on %s\n", std::string(address).c_str());
  std::fflush(stdout);
}

void ServerLife::WaitForEnd() {
  // poll(2) skips what has a negative number.
  pollfd watched[] = {{signals_.get(), POLLIN, 0},
                      {exit_with_stdin_ ? STDIN_FILENO : -1, POLLIN, 0}};
  while (true) {
    if (poll(watched, 2, -1) < 0 && errno != EINTR) {
      return;
    }
    if (watched[0].revents != 0) {
      return;
    }
    char ignored[256];
    if (watched[1].revents != 0 && read(STDIN_FILENO, ignored, sizeof(ignored)) <= 0) {
      return;
    }
  }
}

}  // namespace farcall::bench
