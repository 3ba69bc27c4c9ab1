// SPDX-License-Identifier: Apache-2.0
//
// farcall_client ADDRESS PREFIX [CASE...]: runs all cases, or those named, against the server of
// a peer. Prints "PASS PREFIXcase (seconds)" or "FAIL PREFIXcase: why" for each.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "tools/interop/cases.h"
#include "tools/interop/client.h"

namespace farcall::interop {
namespace {

bool RunCase(const Case& one, const std::string& address, const std::string& prefix) {
  const auto begin = std::chrono::steady_clock::now();
  std::string why;
  try {
    one.run(address);
  } catch (const Failure& failure) {
    why = failure.why;
  }
  std::replace(why.begin(), why.end(), '\n', ' ');
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (why.empty()) {
    std::printf("PASS %s%s (%.1f s)\n", prefix.c_str(), one.name.c_str(), seconds.count());
  } else {
    std::printf("FAIL %s%s: %s (%.1f s)\n", prefix.c_str(), one.name.c_str(), why.c_str(),
                seconds.count());
  }
  std::fflush(stdout);
  return why.empty();
}

// The peer may still be starting; what is wrong with it, the first case tells.
void WaitForPeer(const std::string& address) {
  try {
    Until(Client(address), "the peer answers",
          [](const Call& call) { return !call.controller.Failed(); });
  } catch (const Failure&) {
  }
}

int RunAll(const std::string& address, const std::string& prefix,
           const std::vector<std::string>& wanted) {
  std::vector<Case> cases = AnswerCases();
  for (std::vector<Case> more : {DifferenceCases(), LoadCases()}) {
    std::move(more.begin(), more.end(), std::back_inserter(cases));
  }
  WaitForPeer(address);
  int run = 0, failed = 0;
  for (const Case& one : cases) {
    if (!wanted.empty() && std::count(wanted.begin(), wanted.end(), one.name) == 0) continue;
    ++run;
    if (!RunCase(one, address, prefix)) ++failed;
  }
  return failed == 0 && run > 0 ? 0 : 1;
}

}  // namespace
}  // namespace farcall::interop

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: farcall_client ADDRESS PREFIX [CASE...]\n");
    return 2;
  }
  return farcall::interop::RunAll(argv[1], argv[2], {argv + 3, argv + argc});
}
