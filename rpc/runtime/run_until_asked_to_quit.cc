// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/run_until_asked_to_quit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"
#include "transport/loop/drive/blocking.h"

namespace farcall {
namespace {

// What the handler of a signal can reach: it gets no argument of ours. -1: no thread waits.
std::atomic<int> wake_fd{-1};
std::atomic<bool> quit_asked{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "signal-safety(7)");

extern "C" void OnQuitSignal(int number) {
  if (quit_asked.exchange(true)) ::_exit(128 + number);
  const int kept = errno;
  const char byte = 0;
  // The pipe is empty, so that there is room.
  if (::write(wake_fd.load(), &byte, 1) != 1) ::_exit(128 + number);
  errno = kept;
}

// The signals are caught as long as it lives.
class CaughtSignals {
 public:
  CaughtSignals() {
    struct sigaction action {};
    action.sa_handler = OnQuitSignal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, &term_);
    ::sigaction(SIGINT, &action, &int_);
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;
  ~CaughtSignals() {
    ::sigaction(SIGTERM, &term_, nullptr);
    ::sigaction(SIGINT, &int_, nullptr);
  }

 private:
  struct sigaction term_ {};
  struct sigaction int_ {};
};

}  // namespace

absl::Status RunUntilAskedToQuit(Server& server, Duration grace) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Annotate(ErrnoStatus(errno), "a pipe to wait for signals");
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  int none = -1;
  if (!wake_fd.compare_exchange_strong(none, writing.get())) {
    return absl::FailedPreconditionError("RunUntilAskedToQuit is called once at a time");
  }
  quit_asked = false;
  absl::Status stopped;
  {
    const CaughtSignals caught;
    // Where no thread takes over the signal is waited for all the same.
    (void)BeforeBlocking();
    // poll(2) and not read(2), in which gcc's ThreadSanitizer holds signals back.
    pollfd waiting{reading.get(), POLLIN, 0};
    while (::poll(&waiting, 1, -1) < 0 && errno == EINTR) {
    }
    // What the handler wrote: it has let go of the descriptor when this is there.
    char byte = 0;
    Check(::read(reading.get(), &byte, 1) == 1, "poll said that there is a byte");
    stopped = server.Stop(grace);
  }
  wake_fd = -1;
  return stopped;
}

}  // namespace farcall
