// SPDX-License-Identifier: Apache-2.0
//
// The client of the soak (docs/soak.md): calls until its standard input ends, and tells what came
// of it. Lines of standard output are JSON objects: one a second and a last one with "end" in it.

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "rpc/retry_policy.h"
#include "rpc/runtime/channel.h"
#include "rpc/testing/soak/soak_ledger.h"
#include "rpc/testing/soak/soak_load.h"

ABSL_FLAG(std::string, target, "", "of both channels");
ABSL_FLAG(std::string, ledger, "", "the file where writes are counted");
ABSL_FLAG(bool, count, false, "only print what the ledger says of a run that is over");
ABSL_FLAG(int, calls_per_second, 1000, "reads and writes together");
ABSL_FLAG(int, timeout_ms, 20'000, "of each call: longer than anything that happens to a server");
ABSL_FLAG(int, naming_interval_ms, 200, "for file://");
ABSL_FLAG(std::string, load_balancer, "rr", "as in ChannelOptions");
ABSL_FLAG(std::string, connection_type, "single", "single, pooled or short");
ABSL_FLAG(uint64_t, seed, 1, "of the choices");

namespace farcall {
namespace {

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int Fail(const absl::Status& why) {
  std::fprintf(stderr, "soak_client: %s\n", why.ToString().c_str());
  return 1;
}

int Count(const SoakLedger& ledger) {
  const SoakLedger::Counts counts = ledger.Count();
  Say(absl::StrCat(
      "{\"writes\":", counts.writes, ",\"answered\":", counts.answered,
      ",\"failed\":", counts.failed, ",\"failed_and_run\":", counts.failed_and_run,
      ",\"doubled\":", counts.doubled, ",\"answered_not_run\":", counts.answered_not_run,
      ",\"not_ended\":", counts.not_ended, ",\"ended_twice\":", counts.ended_twice, "}"));
  return 0;
}

ChannelOptions Options() {
  ChannelOptions options;
  options.event_loops = 2;
  options.timeout_ms = absl::GetFlag(FLAGS_timeout_ms);
  options.naming_interval_ms = absl::GetFlag(FLAGS_naming_interval_ms);
  options.load_balancer = absl::GetFlag(FLAGS_load_balancer);
  const std::string type = absl::GetFlag(FLAGS_connection_type);
  if (type == "pooled") options.connection_type = CONNECTION_TYPE_POOLED;
  if (type == "short") options.connection_type = CONNECTION_TYPE_SHORT;
  return options;
}

// Until standard input ends.
void ReportEachSecond(const SoakLoad& load) {
  for (;;) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, 1000) == 0) {
      Say(load.Report());
      continue;
    }
    char ignored[64];
    if (::read(STDIN_FILENO, ignored, sizeof(ignored)) <= 0) return;
  }
}

int Main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto ledger = SoakLedger::Open(absl::GetFlag(FLAGS_ledger));
  if (!ledger.ok()) return Fail(ledger.status());
  if (absl::GetFlag(FLAGS_count)) return Count(**ledger);

  ChannelOptions options = Options();
  const std::string target = absl::GetFlag(FLAGS_target);
  const auto reads = Channel::Create(target, options);
  options.retry_policy = RetryPolicy::OnlyIfNotRun();
  const auto writes = Channel::Create(target, options);
  if (!reads.ok()) return Fail(reads.status());
  if (!writes.ok()) return Fail(writes.status());

  auto load =
      std::make_unique<SoakLoad>(SoakLoad::Channels{**reads, **writes}, **ledger,
                                 absl::GetFlag(FLAGS_calls_per_second), absl::GetFlag(FLAGS_seed));
  ReportEachSecond(*load);
  const bool all_ended =
      load->Stop(std::chrono::seconds(absl::GetFlag(FLAGS_timeout_ms) / 1000 + 10));
  Say(absl::StrCat("{\"end\":", load->Report(), "}"));
  // Calls that go on have their memory in it.
  if (!all_ended) std::_Exit(0);
  return 0;
}

}  // namespace
}  // namespace farcall

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("the client of the soak");
  absl::ParseCommandLine(argc, argv);
  return farcall::Main();
}
