// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "rpc/runtime/run_until_asked_to_quit.h"
#include "rpc/runtime/setting_flags.h"
#include "tools/doctor/program.h"

int main(int argc, char** argv) {
  farcall::TakeSettingFlags(&argc, argv);
  // A reader of the output may go: writing then fails, which is enough.
  std::signal(SIGPIPE, SIG_IGN);
  return farcall::doctor::RunProgram(
      std::vector<std::string>(argv + 1, argv + argc), {std::cout, std::cerr},
      [](farcall::Server& server) { return farcall::RunUntilAskedToQuit(server); });
}
