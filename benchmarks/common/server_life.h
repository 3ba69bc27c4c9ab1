// SPDX-License-Identifier: Apache-2.0
//
// How the server side of each benchmark begins and ends, so that one script runs them all.

#ifndef FARCALL_BENCHMARKS_COMMON_SERVER_LIFE_H_
#define FARCALL_BENCHMARKS_COMMON_SERVER_LIFE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/base/unique_fd.h"

namespace farcall::bench {

class ServerLife {
 public:
  // Before the first thread is started, since it blocks SIGTERM and SIGINT for the calling
  // thread and those it starts (signalfd(2)). SIGPIPE is ignored from here on.
  static absl::StatusOr<ServerLife> Begin(bool exit_with_stdin);

  // Says on standard output where the server listens, once it does.
  static void Announce(absl::string_view address);

  // Returns on SIGTERM, SIGINT or, if asked for, the end of standard input.
  void WaitForEnd();

 private:
  ServerLife(UniqueFd signals, bool exit_with_stdin);

  UniqueFd signals_;
  bool exit_with_stdin_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_SERVER_LIFE_H_
