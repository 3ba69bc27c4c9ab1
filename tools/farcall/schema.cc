// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/schema.h"

#include "absl/strings/str_cat.h"
#include "tools/farcall/text/method_name.h"

namespace farcall::cli {

using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

absl::StatusOr<const ServiceDescriptor*> Schema::FindService(absl::string_view typed) {
  const absl::StatusOr<std::string> name = FullServiceName(typed, services_);
  if (!name.ok()) return name.status();
  return Find(*name);
}

absl::StatusOr<const MethodDescriptor*> Schema::FindMethod(absl::string_view typed) {
  const absl::StatusOr<MethodName> name = MethodName::Parse(typed);
  if (!name.ok()) return name.status();
  const auto service = FindService(name->service);
  if (!service.ok()) return service.status();
  const MethodDescriptor* const method = (*service)->FindMethodByName(name->method);
  if (method != nullptr) return method;
  std::string known;
  for (int i = 0; i < (*service)->method_count(); ++i) {
    absl::StrAppend(&known, i == 0 ? "" : ", ", (*service)->method(i)->name());
  }
  return absl::InvalidArgumentError(
      absl::StrCat((*service)->full_name(), " has no method ", name->method, "; it has: ", known));
}

std::vector<Option> SchemaOptions() {
  return {
      {"--proto", "FILE",
       "take messages and services from this .proto file, not from the\nserver; may be repeated"},
      {"-I", "DIR",
       "where --proto files and their imports are looked for; may be\nrepeated; default: the "
       "working directory"},
  };
}

absl::StatusOr<std::unique_ptr<Schema>> MakeSchema(const Arguments& arguments, Channel& channel) {
  if (arguments.Has("--proto")) return ImportFiles(arguments.All("--proto"), arguments.All("-I"));
  if (arguments.Has("-I")) {
    return absl::InvalidArgumentError("-I says where --proto files are, and there is no --proto");
  }
  return AskServer(channel);
}

}  // namespace farcall::cli
