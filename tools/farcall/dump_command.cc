// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "tools/farcall/command.h"
#include "tools/farcall/http_get.h"

namespace farcall::cli {
namespace {

constexpr char kHelp[] =
    R"(usage: farcall dump TARGET [OPTION...]

Prints what a report of a trouble should carry: version, limits, memory, options, RDMA
devices and why they are not used, counters, connections, and the last events with
their times. No payload and no credential is in it; addresses of peers are.

  farcall dump 127.0.0.1:8002 > dump.txt

It asks for http://TARGET/status/dump; without TLS. A program without a server has
the same from Runtime::Dump().

Exit codes: 0 success, 1 the server has no such page, 2 wrong arguments, 3 it was not reached.
)";

absl::StatusOr<int> Run(const Arguments& arguments, Streams& streams) {
  if (arguments.words().size() != 1) return absl::InvalidArgumentError("dump takes TARGET");
  const auto timeout = arguments.Time("--timeout", std::chrono::seconds(5),
                                      std::chrono::milliseconds(1), std::chrono::hours(1));
  if (!timeout.ok()) return timeout.status();
  const auto text = HttpGet(arguments.words()[0], "/status/dump", *timeout);
  if (!text.ok()) return text.status();
  streams.out << *text;
  return kSuccess;
}

}  // namespace

Command DumpCommand() {
  std::vector<Option> options = {
      {"--timeout", "TIME", "until it is here, default 5s"},
  };
  return {"dump", "print what a report of a trouble should carry", kHelp, std::move(options), Run};
}

}  // namespace farcall::cli
