// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "tools/farcall/command.h"
#include "tools/farcall/http_get.h"
#include "tools/farcall/text/status_text.h"

namespace farcall::cli {
namespace {

constexpr char kHelp[] =
    R"(usage: farcall status TARGET [OPTION...]

Shows what a farcall server says of itself: methods with rates, latencies and errors,
connections and what carries them, memory, threads.

  farcall status 127.0.0.1:8002

It asks for http://TARGET/status, which a browser shows with charts; without TLS.

Exit codes: 0 success, 1 the server has no such page, 2 wrong arguments, 3 it was not reached.
)";

absl::StatusOr<int> Run(const Arguments& arguments, Streams& streams) {
  if (arguments.words().size() != 1) return absl::InvalidArgumentError("status takes TARGET");
  const auto timeout = arguments.Time("--timeout", std::chrono::seconds(5),
                                      std::chrono::milliseconds(1), std::chrono::hours(1));
  if (!timeout.ok()) return timeout.status();
  const auto json = HttpGet(arguments.words()[0], "/status?format=json", *timeout);
  if (!json.ok()) return json.status();
  if (arguments.Has("--json")) {
    streams.out << *json << "\n";
    return kSuccess;
  }
  const auto text = StatusText(*json);
  if (!text.ok()) return text.status();
  streams.out << *text;
  return kSuccess;
}

}  // namespace

Command StatusCommand() {
  std::vector<Option> options = {
      {"--json", "", "as the server says it, in JSON"},
      {"--timeout", "TIME", "until the page is here, default 5s"},
  };
  return {"status", "show what a server says of itself", kHelp, std::move(options), Run};
}

}  // namespace farcall::cli
