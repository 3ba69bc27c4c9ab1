// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/json_message.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"

namespace farcall::cli {
namespace {

constexpr char kTypes[] = "type.googleapis.com";

// Of the pool that the message's own type is from.
std::unique_ptr<google::protobuf::util::TypeResolver> ResolverOf(
    const google::protobuf::Message& message) {
  return std::unique_ptr<google::protobuf::util::TypeResolver>(
      google::protobuf::util::NewTypeResolverForDescriptorPool(
          kTypes, message.GetDescriptor()->file()->pool()));
}

std::string TypeUrl(const google::protobuf::Message& message) {
  return absl::StrCat(kTypes, "/", message.GetDescriptor()->full_name());
}

// protobuf begins what concerns the outermost message with ": ".
absl::Status Bad(const google::protobuf::Message& message, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("this is no ",
                                                 message.GetDescriptor()->full_name(),
                                                 " in JSON: ", absl::StripPrefix(why, ": ")));
}

}  // namespace

absl::Status ReadJson(const std::string& json, google::protobuf::Message& message) {
  const auto types = ResolverOf(message);
  std::string binary;
  const auto read =
      google::protobuf::util::JsonToBinaryString(types.get(), TypeUrl(message), json, &binary);
  if (!read.ok()) return Bad(message, std::string(read.message()));
  if (!message.ParseFromString(binary)) {
    return Bad(message, absl::StrCat("missing ", message.InitializationErrorString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WriteJson(const google::protobuf::Message& message, bool compact) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = !compact;
  options.preserve_proto_field_names = true;
  const auto types = ResolverOf(message);
  std::string json;
  const auto written = google::protobuf::util::BinaryToJsonString(
      types.get(), TypeUrl(message), message.SerializePartialAsString(), &json, options);
  if (written.ok()) return json;
  return absl::InternalError(absl::StrCat("cannot show ", message.GetDescriptor()->full_name(),
                                          " as JSON: ", std::string(written.message())));
}

}  // namespace farcall::cli
