// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/json.h"

#include <climits>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "rpc/wire/payload.h"

namespace farcall {
namespace {

constexpr int kMaxDepth = 100;
constexpr char kUrlPrefix[] = "type.googleapis.com";

std::unique_ptr<google::protobuf::util::TypeResolver> ResolverOf(
    const google::protobuf::Message& message) {
  return std::unique_ptr<google::protobuf::util::TypeResolver>(
      google::protobuf::util::NewTypeResolverForDescriptorPool(
          kUrlPrefix, message.GetDescriptor()->file()->pool()));
}

std::string UrlOf(const google::protobuf::Message& message) {
  return absl::StrCat(kUrlPrefix, "/", message.GetDescriptor()->full_name());
}

absl::Status Malformed(const google::protobuf::Message& message, absl::string_view why) {
  absl::ConsumePrefix(&why, ": ");  // an empty place before it
  return absl::InvalidArgumentError(
      absl::StrCat("the JSON is no ", message.GetDescriptor()->full_name(), ": ", why));
}

// Whether objects and arrays lie in each other too deep. libprotobuf counts objects only, and needs
// memory for each array that is open. Strings may stand in either quotes, as it takes them.
bool IsTooDeep(absl::string_view text) {
  int depth = 0;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == '\\') ++i;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

absl::Status ParseJson(absl::string_view text, google::protobuf::Message& message) {
  message.Clear();
  text = absl::StripAsciiWhitespace(text);
  if (IsTooDeep(text)) {
    return Malformed(message, absl::StrCat("it is nested more than ", kMaxDepth, " deep"));
  }
  if (!text.empty()) {
    // By way of the wire format, as JsonStringToMessage does; which writes to standard error when
    // required fields are missing, and a client must not be able to fill the log.
    std::string bytes;
    const auto parsed = google::protobuf::util::JsonToBinaryString(
        ResolverOf(message).get(), UrlOf(message), {text.data(), text.size()}, &bytes,
        google::protobuf::util::JsonParseOptions());
    if (!parsed.ok()) {
      return Malformed(message, {parsed.message().data(), parsed.message().size()});
    }
    if (bytes.size() > INT_MAX || !message.ParsePartialFromString(bytes)) {
      return Malformed(message, "it is too large or nested too deep");
    }
  }
  return CheckRequiredFields(message);
}

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  if (absl::Status lacking = CheckRequiredFields(message); !lacking.ok()) return lacking;
  std::string bytes;
  if (!message.SerializePartialToString(&bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", message.GetDescriptor()->full_name(), " is larger than 2 GiB"));
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto written = google::protobuf::util::BinaryToJsonString(
      ResolverOf(message).get(), UrlOf(message), bytes, &json, options);
  if (!written.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", message.GetDescriptor()->full_name(),
        " has no JSON: ", absl::string_view(written.message().data(), written.message().size())));
  }
  return json;
}

}  // namespace farcall
