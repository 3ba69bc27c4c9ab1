// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/program.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/cluster/ask.h"
#include "tools/doctor/cluster/cluster_report.h"
#include "tools/doctor/collect.h"
#include "tools/doctor/diagnose.h"
#include "tools/doctor/introduction.h"
#include "tools/doctor/look/queues.h"
#include "tools/doctor/peer/caller.h"
#include "tools/doctor/peer/doctor_server.h"
#include "tools/doctor/peer/queue_counts.h"
#include "tools/doctor/peer/ways.h"
#include "tools/doctor/report_text.h"
#include "tools/doctor/watchdog.h"
#include "tools/farcall/text/arguments.h"
#include "transport/rdma/verbs/load.h"

namespace farcall::doctor {
namespace {

constexpr uint16_t kPort = 18600;
// Without progress: each step that drivers are not to blame for is shorter.
constexpr std::chrono::seconds kStandstill{60};
// Between two looks at the counters, when another doctor asks.
constexpr double kLookAgain = 0.5;

const std::vector<cli::Option>& Options() {
  static const std::vector<cli::Option> options = {
      {"--json", "", "one JSON object on standard output instead of text"},
      {"--all", "", "say what each finding means, also of those that are fine"},
      {"--seconds", "N",
       "between two looks at the counters, and for each number that is\n"
       "measured with --peer (0.1 to 600) or --cluster (to 10); default 1"},
      {"--serve", "", "report, then answer other doctors until SIGTERM"},
      {"--listen", "ADDRESS", "where to serve, default 0.0.0.0:18600"},
      {"--measure", "NETWORKS",
       "when a doctor with --cluster asks, look at this host again and\n"
       "measure against doctors of these networks: 10.0.0.0/8,fd00::/8"},
      {"--name", "NAME", "of this host in tables, default its host name"},
      {"--peer", "HOST[:PORT]", "report, then measure against a doctor that serves there"},
      {"--cluster", "HOSTS",
       "each of these for itself, and all paths between them; they serve\n"
       "with --measure: host,host:port,... or file://PATH or dns://NAME"},
      {"--paths", "N", "paths that are measured at the same time, default 8, 1 to 64"},
      {"--quiet", "", "no progress on standard error"},
  };
  return options;
}

std::string Help() {
  return absl::StrCat(
      "usage: doctor [OPTION...]\n\n"
      "Tells whether this host, or this container, can use RDMA, and what keeps it from it.\n"
      "Changes nothing. Needs no rights; with fewer, some findings are \"unknown\".\n\n",
      cli::HelpOf(Options()),
      "  and each setting of docs/settings.md, as in --rdma.devices=mlx5_0\n"
      "\nExit status: 0 ready; 1 degraded: RDMA can be used, and something is amiss; 2 no RDMA;\n"
      "64 wrong arguments. With --serve: 0 it served until it was asked to end; 1 it could not\n"
      "serve, or not to the end.\n"
      "\nBoth ends of a path:\n"
      "  host1$ doctor --serve\n"
      "  host2$ doctor --peer host1\n"
      "\nA cluster:\n"
      "  each host$ doctor --serve --measure 10.0.0.0/8\n"
      "  anywhere$  doctor --cluster host1,host2,host3\n");
}

int Refuse(const Streams& streams, absl::string_view why) {
  streams.err << "doctor: " << std::string(why) << "\n\"doctor --help\" tells what it takes.\n";
  return kUsage;
}

// "host", "host:1", "1.2.3.4", "[fd00::1]:1", "fd00::1".
std::string WithPort(const std::string& peer) {
  if (absl::StartsWith(peer, "[")) {
    return absl::EndsWith(peer, "]") ? absl::StrCat(peer, ":", kPort) : peer;
  }
  const size_t colon = peer.find(':');
  if (colon == std::string::npos) return absl::StrCat(peer, ":", kPort);
  return peer.find(':', colon + 1) == std::string::npos ? peer
                                                        : absl::StrCat("[", peer, "]:", kPort);
}

// Measures, and looks at the counters of this host's adapters before and after.
void MeasureAgainst(const std::string& peer, double seconds, const Facts& facts,
                    const VerbsApi* api, const Progress& progress, Report& report) {
  const std::vector<std::string> interfaces = InterfacesOf(facts.now, facts.own);
  const auto before = ReadCounters(interfaces);
  const std::chrono::duration<double> how_long(seconds);
  auto comparison =
      Compare(WithPort(peer), api, std::chrono::duration_cast<Duration>(how_long), progress);
  if (!comparison.ok()) return AddFindings({PeerNotReached(peer, comparison.status())}, report);
  const auto moved = MovedOf(before, ReadCounters(interfaces));
  std::vector<LoadedQueue> loaded;
  for (const QueueOf& queue :
       QueuesOf(facts.now, facts.settings.traffic_class, facts.own, facts.queues.dcb)) {
    const auto found = moved.find(queue.interface);
    if (found != moved.end()) loaded.push_back({queue.device, queue.priority, found->second});
  }
  AddFindings(CheckComparison(*comparison), report);
  AddFindings(CheckLoad(*comparison, loaded), report);
  report.peer = *std::move(comparison);
}

int CannotServe(const Streams& streams, const absl::Status& why) {
  if (absl::IsInvalidArgument(why)) return Refuse(streams, why.message());
  streams.err << "doctor: " << std::string(why.message()) << "\n" << std::flush;
  return kDegraded;
}

// `told`: where the address is told, which is a line for people.
int Serve(const std::string& address, Introduction introduction, const VerbsApi* api,
          std::ostream& told, const Streams& streams, const ServeToTheEnd& serve) {
  auto runtime = QuietRuntime({});
  if (!runtime.ok()) return CannotServe(streams, runtime.status());
  auto server = DoctorServer::Start(**runtime, address, std::move(introduction), api);
  if (!server.ok()) return CannotServe(streams, server.status());
  told << "serving on " << (*server)->address() << "; on the other host: doctor --peer HOST:"
       << (*server)->address().substr((*server)->address().rfind(':') + 1) << "\n"
       << std::flush;
  const absl::Status ended = serve((*server)->server());
  return ended.ok() ? int{kReady} : CannotServe(streams, absl::AbortedError(ended.message()));
}

// The same step again is not told again.
Progress ProgressTo(const Streams& streams, bool quiet) {
  return [&streams, quiet, last = std::string()](absl::string_view what) mutable {
    if (quiet || what == last) return;
    last = std::string(what);
    streams.err << "doctor: " << last << "\n" << std::flush;
  };
}

Facts CollectWatched(const absl::StatusOr<VerbsApi>& api, double seconds,
                     const Progress& progress) {
  Watchdog watchdog(kStandstill, EndProcess);
  return Collect(api, seconds, [&](absl::string_view what) {
    watchdog.Report(what);
    progress(what);
  });
}

// `others`: networks of --measure.
int Run(const cli::Arguments& arguments, double seconds, const std::optional<Networks>& others,
        const Streams& streams, const ServeToTheEnd& serve) {
  const Progress progress = ProgressTo(streams, arguments.Has("--quiet"));
  const absl::StatusOr<VerbsApi> api = LoadVerbsApi();
  const VerbsApi* const loaded = api.ok() ? &*api : nullptr;
  const Facts facts = CollectWatched(api, seconds, progress);
  Report report = Diagnose(facts);
  if (const std::string peer = arguments.Text("--peer", ""); !peer.empty()) {
    MeasureAgainst(peer, seconds, facts, loaded, progress, report);
  }
  if (arguments.Has("--json")) {
    const auto inventory = node::ToJsonLine(facts.now);
    streams.out << ToJson(report, inventory.ok() ? *inventory : "");
  } else {
    streams.out << ToText(report, arguments.Has("--all"));
  }
  streams.out << std::flush;
  if (!arguments.Has("--serve")) return report.code;
  Introduction introduction = IntroductionOf(facts, report);
  introduction.name = arguments.Text("--name", "");
  if (others.has_value()) {
    introduction.others = others;
    introduction.report = [&api] {
      return ToMessage(Diagnose(CollectWatched(api, kLookAgain, [](absl::string_view) {})));
    };
  }
  return Serve(arguments.Text("--listen", absl::StrCat("0.0.0.0:", kPort)), std::move(introduction),
               loaded, arguments.Has("--json") ? streams.err : streams.out, streams, serve);
}

// Those that belong to others that are not there.
absl::Status CheckTogether(const cli::Arguments& arguments) {
  const auto goes_with = [&](const char* option, const char* with) {
    return arguments.Has(option) && !arguments.Has(with)
               ? absl::InvalidArgumentError(absl::StrCat(option, " goes with ", with))
               : absl::OkStatus();
  };
  if (arguments.Has("--serve") + arguments.Has("--peer") + arguments.Has("--cluster") > 1) {
    return absl::InvalidArgumentError(
        "--serve is for one host, --peer for the other, --cluster for who asks many");
  }
  if (arguments.Has("--peer") && arguments.Text("--peer", "").empty()) {
    return absl::InvalidArgumentError("--peer needs a host");
  }
  for (const char* const option : {"--listen", "--measure", "--name"}) {
    if (absl::Status status = goes_with(option, "--serve"); !status.ok()) return status;
  }
  return goes_with("--paths", "--cluster");
}

int RunOnMany(const cli::Arguments& arguments, double seconds, const Streams& streams) {
  const auto lines = ParseHosts(arguments.Text("--cluster", ""), kPort);
  if (!lines.ok()) return Refuse(streams, lines.status().message());
  const auto at_once = arguments.Integer("--paths", 8, 1, 64);
  if (!at_once.ok()) return Refuse(streams, at_once.status().message());
  if (seconds > DoctorService::kMaxSeconds) {
    return Refuse(streams, "--seconds is 10 at most with --cluster");
  }
  const Progress progress = ProgressTo(streams, arguments.Has("--quiet"));
  progress("asking for addresses");
  const auto cluster =
      AskCluster(Resolve(*lines), seconds, static_cast<size_t>(*at_once), progress);
  if (!cluster.ok()) {
    streams.err << "doctor: " << std::string(cluster.status().message()) << "\n" << std::flush;
    return kNoRdma;
  }
  const bool json = arguments.Has("--json");
  (json ? streams.err : streams.out) << ToText(*cluster) << std::flush;
  if (json) streams.out << ToJson(*cluster) << std::flush;
  return StateOf(*cluster, MatricesOf(*cluster));
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments, const Streams& streams,
               const ServeToTheEnd& serve) {
  for (const std::string& word : arguments) {
    if (word != "--help" && word != "-h") continue;
    streams.out << Help();
    return kReady;
  }
  const auto parsed = cli::Arguments::Parse(Options(), arguments);
  if (!parsed.ok()) return Refuse(streams, parsed.status().message());
  if (!parsed->words().empty()) {
    return Refuse(streams, absl::StrCat("what is \"", parsed->words().front(), "\"?"));
  }
  const auto seconds = parsed->Number("--seconds", 1, 0.1, 600);
  if (!seconds.ok()) return Refuse(streams, seconds.status().message());
  if (absl::Status status = CheckTogether(*parsed); !status.ok()) {
    return Refuse(streams, status.message());
  }
  if (parsed->Has("--cluster")) return RunOnMany(*parsed, *seconds, streams);
  std::optional<Networks> others;
  if (parsed->Has("--measure")) {
    auto networks = Networks::Parse(parsed->Text("--measure", ""));
    if (!networks.ok()) return Refuse(streams, networks.status().message());
    others = *std::move(networks);
  }
  return Run(*parsed, *seconds, others, streams, serve);
}

}  // namespace farcall::doctor
