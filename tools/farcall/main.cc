// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "rpc/runtime/setting_flags.h"
#include "tools/farcall/command.h"

int main(int argc, char** argv) {
  // "bazel run" starts programs elsewhere, and says where it was called from.
  const char* const called_from = std::getenv("BUILD_WORKING_DIRECTORY");
  if (called_from != nullptr && chdir(called_from) != 0) {
    std::cerr << "farcall: cannot change to " << called_from << "\n";
    return farcall::cli::kBadArguments;
  }
  farcall::TakeSettingFlags(&argc, argv);
  // A reader of the output may go: writing then fails, which is enough.
  std::signal(SIGPIPE, SIG_IGN);
  farcall::cli::Streams streams{std::cin, std::cout, std::cerr};
  return farcall::cli::RunProgram(std::vector<std::string>(argv + 1, argv + argc), streams);
}
