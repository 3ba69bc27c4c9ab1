// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/dynamic_message.h"
#include "tools/farcall/command.h"
#include "tools/farcall/files.h"
#include "tools/farcall/peer.h"
#include "tools/farcall/schema.h"
#include "tools/farcall/text/json_message.h"

namespace farcall::cli {
namespace {

constexpr char kHelp[] =
    R"(usage: farcall call TARGET SERVICE.METHOD [JSON] [OPTION...]

Makes one call and prints the answer as JSON on standard output.

  farcall call 127.0.0.1:8002 EchoService.Echo '{"message": "hello"}'
  echo '{"message": "hello"}' | farcall call 127.0.0.1:8002 EchoService.Echo -
  farcall call 127.0.0.1:8002 EchoService.Echo @request.json --proto echo.proto -I protos

TARGET is host:port, 1.2.3.4:port, [v6]:port or unix:PATH. JSON is the request by protobuf's
JSON mapping; "-" reads it from standard input, "@FILE" from a file; default {}. The server
tells what its methods take ("farcall list TARGET" shows it), or --proto does.

Exit codes: 0 the call succeeded, 1 it failed, 2 wrong arguments, 3 the server was not reached.
)";

// The outcome for people, on standard error.
void Print(Controller& controller, bool use_rdma, std::ostream& err) {
  err << "* " << Carrier(controller.connection().get(), use_rdma) << "\n* "
      << controller.latency_us() << " us";
  if (controller.retried_count() > 0) err << ", " << controller.retried_count() << " retries";
  if (const size_t bytes = controller.response_attachment().size(); bytes > 0) {
    err << ", attachment of " << bytes << " bytes (--save-attachment FILE keeps it)";
  }
  err << "\n";
  for (const auto& [key, value] : controller.response_user_fields().all()) {
    err << "< " << key << ": " << value << "\n";
  }
}

absl::Status Attach(const Arguments& arguments, Controller& controller) {
  if (!arguments.Has("--attachment")) return absl::OkStatus();
  absl::StatusOr<std::string> bytes = ReadFile(arguments.Text("--attachment", ""));
  if (!bytes.ok()) return bytes.status();
  const auto kept = std::make_shared<const std::string>(*std::move(bytes));
  controller.request_attachment().AppendUserData(kept->data(), kept->size(), [kept] {});
  return absl::OkStatus();
}

absl::StatusOr<int> Show(const Arguments& arguments, Controller& controller, absl::string_view what,
                         const google::protobuf::Message& response, Streams& streams) {
  if (arguments.Has("--verbose")) Print(controller, arguments.Has("--use_rdma"), streams.err);
  if (controller.Failed()) {
    streams.err << "farcall: " << what << " failed: " << controller.status().message() << "\n";
    return controller.connection() == nullptr ? kNoConnection : kCallFailed;
  }
  const absl::StatusOr<std::string> json = WriteJson(response, arguments.Has("--compact"));
  if (!json.ok()) return json.status();
  streams.out << *json << (arguments.Has("--compact") ? "\n" : "");
  if (arguments.Has("--save_attachment")) {
    absl::Status status =
        WriteFile(arguments.Text("--save_attachment", ""), controller.response_attachment());
    if (!status.ok()) return status;
  }
  return kSuccess;
}

absl::StatusOr<int> Run(const Arguments& arguments, Streams& streams) {
  const std::vector<std::string>& words = arguments.words();
  if (words.size() < 2 || words.size() > 3) {
    return absl::InvalidArgumentError("call takes TARGET, SERVICE.METHOD and perhaps JSON");
  }
  const auto runtime = MakeRuntime(1, arguments);
  if (!runtime.ok()) return runtime.status();
  const auto options = ReadChannelFlags(arguments, **runtime);
  if (!options.ok()) return options.status();
  const auto channel = Channel::Create(words[0], *options);
  if (!channel.ok()) return channel.status();
  Controller controller;
  absl::Status status = AddHeaders(arguments, controller.request_user_fields());
  if (status.ok()) status = Attach(arguments, controller);
  if (!status.ok()) return status;
  const auto json = ReadRequest(words.size() == 3 ? words[2] : "{}", streams.in);
  if (!json.ok()) return json.status();

  const auto schema = MakeSchema(arguments, **channel);
  if (!schema.ok()) return schema.status();
  const auto method = (*schema)->FindMethod(words[1]);
  if (!method.ok()) return method.status();
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<google::protobuf::Message> request(
      factory.GetPrototype((*method)->input_type())->New());
  const std::unique_ptr<google::protobuf::Message> response(
      factory.GetPrototype((*method)->output_type())->New());
  if (status = ReadJson(*json, *request); !status.ok()) return status;
  if (options->use_rdma) {
    const auto reached = Reach(**channel, std::chrono::milliseconds(options->timeout_ms));
    if (!reached.ok()) return reached.status();
  }
  (*channel)->CallMethod(*method, &controller, request.get(), response.get(), nullptr);
  return Show(arguments, controller, (*method)->full_name(), *response, streams);
}

}  // namespace

Command CallCommand() {
  std::vector<Option> options = {
      {"--verbose", "",
       "on standard error: what carried the call and why, how long it took,\nthe answer's user "
       "fields"},
      {"--compact", "", "the answer on one line"},
      {"--attachment", "FILE", "bytes to send beside the message"},
      {"--save_attachment", "FILE", "where to write the bytes that come beside the answer"},
  };
  for (const auto& more : {SchemaOptions(), ChannelFlags()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  return {"call", "make one call, with JSON in and out", kHelp, std::move(options), Run};
}

}  // namespace farcall::cli
