// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_call_request.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "rpc/http/http_origin.h"

namespace farcall {
namespace {

constexpr size_t kMaxRequestId = 256;

// "application/json" of "Application/JSON; charset=utf-8".
std::string MediaType(absl::string_view field) {
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(field.substr(0, field.find(';'))));
}

// Whether the charset, where there is one, is that of JSON (RFC 8259, section 8.1).
bool IsUtf8(absl::string_view field) {
  const std::string lower = absl::AsciiStrToLower(field);
  const size_t at = lower.find("charset=");
  if (at == std::string::npos) return true;
  absl::string_view charset = absl::string_view(lower).substr(at + 8);
  charset = absl::StripAsciiWhitespace(charset.substr(0, charset.find(';')));
  return charset == "utf-8" || charset == "\"utf-8\"" || charset == "us-ascii";
}

HttpRefusal ReadType(const HttpRequest& request, HttpBodyKind& kind) {
  const std::string* const field = request.Find("Content-Type");
  const std::string type = field != nullptr ? MediaType(*field) : "";
  if (type == "application/proto" || type == "application/protobuf" ||
      type == "application/x-protobuf") {
    kind = HttpBodyKind::kProtobuf;
    return {};
  }
  kind = HttpBodyKind::kJson;
  if (request.body.empty()) return {};
  if (type == "application/json") {
    if (IsUtf8(*field)) return {};
    return {415, "JSON comes in UTF-8"};
  }
  // What `curl -d` sends by default.
  if (type.empty() || type == "application/x-www-form-urlencoded") return {};
  return {415, absl::StrCat("send Content-Type: application/json, or application/proto, not \"",
                            absl::CHexEscape(type.substr(0, 100)), "\"")};
}

HttpRefusal ReadTimeout(absl::string_view text, TimePoint now, TimePoint& deadline) {
  int32_t ms = 0;
  if (!absl::SimpleAtoi(text, &ms) || ms <= 0) {
    return {400, "x-farcall-timeout-ms is a number of milliseconds, 1 to 2147483647"};
  }
  deadline = now + std::chrono::milliseconds(ms);
  return {};
}

}  // namespace

MethodPath SplitMethodPath(absl::string_view path) {
  if (!absl::ConsumePrefix(&path, "/")) return {};
  const size_t slash = path.find('/');
  if (slash == absl::string_view::npos) return {};
  const MethodPath parts{.service = path.substr(0, slash), .method = path.substr(slash + 1)};
  if (parts.method.find('/') != absl::string_view::npos) return {};
  return parts;
}

HttpRefusal ReadCallRequest(HttpRequest& request, TimePoint now, HttpCallRequest& call) {
  if (HttpRefusal bad = RefuseOtherSite(request); bad.status != 0) return bad;
  if (!request.query.empty()) {
    return {400, "parameters behind \"?\" are no fields: POST the request as JSON"};
  }
  if (request.method == "GET" && !request.body.empty()) {
    return {400, "a GET has no body: POST the request"};
  }
  if (HttpRefusal bad = ReadType(request, call.kind); bad.status != 0) return bad;
  if (const std::string* const timeout = request.Find("x-farcall-timeout-ms")) {
    if (HttpRefusal bad = ReadTimeout(*timeout, now, call.deadline); bad.status != 0) return bad;
  }
  if (const std::string* const id = request.Find("x-log-id")) {
    if (!absl::SimpleAtoi(*id, &call.log_id)) return {400, "x-log-id is a 64-bit number"};
  }
  if (const std::string* const id = request.Find("x-request-id")) {
    if (id->size() > kMaxRequestId) {
      return {400, absl::StrCat("x-request-id is longer than ", kMaxRequestId, " bytes")};
    }
    call.request_id = *id;
  }
  for (const HttpField& field : request.fields) {
    if (!absl::StartsWithIgnoreCase(field.name, kUserFieldPrefix)) continue;
    call.user_fields.Set(absl::AsciiStrToLower(field.name.substr(kUserFieldPrefix.size())),
                         field.value);
  }
  call.body = std::move(request.body);
  return {};
}

}  // namespace farcall
