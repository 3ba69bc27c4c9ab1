// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/process/quiet_fork.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "rpc/testing/eventually.h"
#include "transport/base/check.h"
#include "transport/base/sanitizer.h"

namespace farcall {
namespace {

// What the other threads have done so far, if all of them sleep; else empty. Two equal answers in
// a row: none of them ran in between.
std::string SleepOfOthers() {
  std::string sleep = "asleep";
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (absl::StartsWith(line, "State:") && !absl::StrContains(line, "S (sleeping)")) return "";
      if (absl::StrContains(line, "ctxt_switches:")) sleep += task.path().string() + line;
    }
  }
  return sleep;
}

}  // namespace

pid_t QuietFork() {
  std::string before;
  const auto quiet = [&before] {
    std::string now = SleepOfOthers();
    const bool same = !now.empty() && now == before;
    before = std::move(now);
    return same;
  };
  Check(!kAddressSanitizer || Eventually(quiet), "the other threads come to rest");
  return ::fork();
}

}  // namespace farcall
