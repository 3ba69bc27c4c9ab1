// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "tools/farcall/command.h"
#include "tools/farcall/peer.h"
#include "tools/farcall/schema.h"
#include "tools/farcall/text/describe.h"

namespace farcall::cli {
namespace {

constexpr char kHelp[] =
    R"(usage: farcall list TARGET [SERVICE | SERVICE.METHOD] [OPTION...]

Shows what a server can be called with.

  farcall list 127.0.0.1:8002                      the services and their methods
  farcall list 127.0.0.1:8002 EchoService          one service with the fields of its messages
  farcall list 127.0.0.1:8002 EchoService.Echo     a call to begin with

The server must serve its .proto files, which farcall's do unless ServerOptions::reflection is
off. With --proto nothing is asked of the server.

Exit codes: 0 success, 1 the server does not tell, 2 wrong arguments, 3 it was not reached.
)";

absl::Status ListAll(Schema& schema, std::ostream& out) {
  for (const std::string& name : schema.services()) {
    const auto service = schema.Find(name);
    if (!service.ok()) return service.status();
    out << name << "\n" << DescribeMethods(**service);
  }
  return absl::OkStatus();
}

absl::Status ListOne(Schema& schema, const std::string& target, const std::string& typed,
                     std::ostream& out) {
  const auto service = schema.FindService(typed);
  if (service.ok()) {
    out << DescribeService(**service);
    return absl::OkStatus();
  }
  const auto method = schema.FindMethod(typed);
  // Whether it was meant as a service or a method is not known: what there is helps with both.
  if (!method.ok()) return schema.FindService(typed).status();
  out << "farcall call " << target << " " << (*method)->full_name() << " '"
      << SampleJson(*(*method)->input_type()) << "'\n";
  return absl::OkStatus();
}

absl::StatusOr<int> Run(const Arguments& arguments, Streams& streams) {
  const std::vector<std::string>& words = arguments.words();
  if (words.empty() || words.size() > 2) {
    return absl::InvalidArgumentError("list takes TARGET and perhaps SERVICE or SERVICE.METHOD");
  }
  const auto runtime = MakeRuntime(1, arguments);
  if (!runtime.ok()) return runtime.status();
  const auto options = ReadChannelFlags(arguments, **runtime);
  if (!options.ok()) return options.status();
  const auto channel = Channel::Create(words[0], *options);
  if (!channel.ok()) return channel.status();
  const auto schema = MakeSchema(arguments, **channel);
  if (!schema.ok()) return schema.status();
  absl::Status status = words.size() == 1 ? ListAll(**schema, streams.out)
                                          : ListOne(**schema, words[0], words[1], streams.out);
  if (!status.ok()) return status;
  return kSuccess;
}

}  // namespace

Command ListCommand() {
  std::vector<Option> options = SchemaOptions();
  for (const Option& option : ChannelFlags()) options.push_back(option);
  return {"list", "show services, methods and message fields", kHelp, std::move(options), Run};
}

}  // namespace farcall::cli
