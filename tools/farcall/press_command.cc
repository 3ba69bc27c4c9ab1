// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <csignal>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/dynamic_message.h"
#include "tools/farcall/command.h"
#include "tools/farcall/files.h"
#include "tools/farcall/peer.h"
#include "tools/farcall/press_run.h"
#include "tools/farcall/schema.h"
#include "tools/farcall/text/json_message.h"

namespace farcall::cli {
namespace {

constexpr char kHelp[] =
    R"(usage: farcall press TARGET SERVICE.METHOD [JSON] [OPTION...]

Makes one call again and again, prints a row each second and a summary at the end, or when
it is stopped by Ctrl-C.

  farcall press 127.0.0.1:8002 EchoService.Echo '{"message": "hello"}' --concurrency 32
  farcall press 127.0.0.1:8002 EchoService.Echo '{"message": "hello"}' --qps 50000

Without --qps the loop is closed: --concurrency calls are under way, and each that ends
begins the next. With --qps it is open: calls begin at fixed times whether or not others have
ended, and a latency counts from when its call was due, so that a server that stalls is
charged for all that would have come meanwhile.

TARGET, SERVICE.METHOD and JSON are those of "farcall call".
Exit codes: 0 no call failed, 1 some did, 2 wrong arguments, 3 the server was not reached.
)";

// Set by SIGINT: the run ends with its summary. A lock-free atomic, as handlers need.
std::atomic<bool> interrupted{false};

constexpr int kDefaultConcurrency = 1;
constexpr int kDefaultOpenConcurrency = 1000;

absl::Status ReadLoad(const Arguments& arguments, PressLoad& load) {
  const auto qps = arguments.Number("--qps", 0, 0, 1e8);
  if (!qps.ok()) return qps.status();
  load.qps = *qps;
  const auto concurrency = arguments.Integer(
      "--concurrency", load.qps > 0 ? kDefaultOpenConcurrency : kDefaultConcurrency, 1, 65536);
  if (!concurrency.ok()) return concurrency.status();
  load.concurrency = static_cast<int>(*concurrency);
  const auto duration = arguments.Time("--duration", std::chrono::seconds(10),
                                       std::chrono::milliseconds(1), std::chrono::hours(24 * 7));
  if (!duration.ok()) return duration.status();
  load.duration = *duration;
  if (absl::Status status = AddHeaders(arguments, load.headers); !status.ok()) return status;
  if (arguments.Has("--attachment")) {
    absl::StatusOr<std::string> bytes = ReadFile(arguments.Text("--attachment", ""));
    if (!bytes.ok()) return bytes.status();
    load.attachment = std::make_shared<const std::string>(*std::move(bytes));
  }
  return absl::OkStatus();
}

using Reached = std::shared_ptr<const ConnectionInfo>;

// Connects each, so that connecting is not part of what is measured. The connection of the first.
absl::StatusOr<Reached> OpenChannels(const std::string& target, const ChannelOptions& options,
                                     int64_t count, PressLoad& load) {
  Reached first;
  for (int64_t i = 0; i < count; ++i) {
    auto channel = Channel::Create(target, options);
    if (!channel.ok()) return channel.status();
    const auto reached = Reach(**channel, std::chrono::milliseconds(options.timeout_ms));
    if (!reached.ok()) return reached.status();
    load.channels.push_back(*std::move(channel));
    if (first == nullptr) first = *reached;
  }
  return first;
}

// What carried the calls, from begin to end.
std::string Carried(const ConnectionInfo& before, PressLoad& load, const ChannelOptions& options) {
  std::string text = Carrier(&before, options.use_rdma);
  const auto after = Reach(*load.channels.front(), std::chrono::milliseconds(options.timeout_ms));
  if (!after.ok()) return absl::StrCat(text, "; at the end ", after.status().message());
  if ((*after)->transport != before.transport) {
    absl::StrAppend(&text, "; at the end ", Carrier(after->get(), options.use_rdma));
  }
  return text;
}

PressSummary Press(PressLoad& load, std::ostream& shown) {
  // The head again, when the last one has left the screen.
  constexpr int kRowsBelowAHead = 20;
  interrupted = false;
  const auto before = std::signal(SIGINT, [](int) { interrupted = true; });
  int rows = 0;
  PressSummary summary =
      RunPress(load, interrupted, [&](double at, double seconds, const bench::CallCounts& counts) {
        if (rows++ % kRowsBelowAHead == 0) shown << PressHead();
        shown << PressRow(at, seconds, counts) << std::flush;
      });
  std::signal(SIGINT, before);
  return summary;
}

absl::StatusOr<int> Finish(const PressSummary& summary, const std::string& json,
                           std::ostream& shown, Streams& streams) {
  shown << "\n" << summary.ToText();
  if (json == "-") {
    streams.out << summary.ToJson() << "\n";
  } else if (!json.empty()) {
    Buffer line;
    line.Append(summary.ToJson() + "\n");
    if (absl::Status status = WriteFile(json, line); !status.ok()) return status;
  }
  return summary.counts.failed() == 0 ? kSuccess : kCallFailed;
}

absl::StatusOr<int> Run(const Arguments& arguments, Streams& streams) {
  const std::vector<std::string>& words = arguments.words();
  if (words.size() < 2 || words.size() > 3) {
    return absl::InvalidArgumentError("press takes TARGET, SERVICE.METHOD and perhaps JSON");
  }
  const auto threads = arguments.Integer("--threads", 1, 1, 256);
  if (!threads.ok()) return threads.status();
  const auto runtime = MakeRuntime(static_cast<int>(*threads), arguments);
  if (!runtime.ok()) return runtime.status();
  const auto options = ReadChannelFlags(arguments, **runtime);
  if (!options.ok()) return options.status();
  const auto connections = arguments.Integer("--connections", 1, 1, 256);
  if (!connections.ok()) return connections.status();
  const auto json = ReadRequest(words.size() == 3 ? words[2] : "{}", streams.in);
  if (!json.ok()) return json.status();

  PressLoad load;
  if (absl::Status status = ReadLoad(arguments, load); !status.ok()) return status;
  const auto reached = OpenChannels(words[0], *options, *connections, load);
  if (!reached.ok()) return reached.status();

  const auto schema = MakeSchema(arguments, *load.channels.front());
  if (!schema.ok()) return schema.status();
  const auto method = (*schema)->FindMethod(words[1]);
  if (!method.ok()) return method.status();
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<google::protobuf::Message> request(
      factory.GetPrototype((*method)->input_type())->New());
  if (absl::Status status = ReadJson(*json, *request); !status.ok()) return status;
  load.method = *method;
  load.request = request.get();
  load.response = factory.GetPrototype((*method)->output_type());

  const std::string json_file = arguments.Text("--json", "");
  std::ostream& shown = json_file == "-" ? streams.err : streams.out;
  PressSummary summary = Press(load, shown);
  summary.target = words[0];
  summary.carrier = Carried(**reached, load, *options);
  return Finish(summary, json_file, shown, streams);
}

}  // namespace

Command PressCommand() {
  std::vector<Option> options = {
      {"--concurrency", "N",
       "calls under way, default 1; with --qps at most so many,\ndefault 1000"},
      {"--qps", "N", "calls per second, at fixed times"},
      {"--duration", "TIME", "how long, default 10s"},
      {"--connections", "N", "to spread the calls over, default 1"},
      {"--threads", "N", "event loops of this program, default 1"},
      {"--json", "FILE",
       "write the summary as JSON; \"-\": to standard output, and the\ntable to standard error"},
      {"--attachment", "FILE", "bytes to send beside each message"},
  };
  for (const auto& more : {SchemaOptions(), ChannelFlags()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  return {"press", "put load on a server with one call, and see its latencies", kHelp,
          std::move(options), Run};
}

}  // namespace farcall::cli
