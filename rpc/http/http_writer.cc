// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/http/http_status.h"
#include "rpc/status/json_writer.h"

namespace farcall {
namespace {

// As in the meta of baidu_std.
constexpr size_t kMaxErrorText = 800;

bool IsName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

bool IsValue(absl::string_view value) {
  return std::all_of(value.begin(), value.end(),
                     [](unsigned char c) { return (c >= ' ' && c != 0x7f) || c == '\t'; });
}

void AppendField(absl::string_view name, absl::string_view value, std::string& head) {
  if (IsName(name) && IsValue(value)) absl::StrAppend(&head, name, ": ", value, "\r\n");
}

}  // namespace

std::string HttpHead(const HttpResponse& response, const HttpAnswerForm& form) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", response.status, " ", HttpReason(response.status), "\r\n");
  if (!response.content_type.empty()) AppendField("Content-Type", response.content_type, head);
  absl::StrAppend(&head, "Content-Length: ", response.body.size(), "\r\n");
  for (const HttpField& field : response.fields) AppendField(field.name, field.value, head);
  // It is the default in HTTP/1.1, and must be written in HTTP/1.0.
  if (!form.keep_alive) {
    absl::StrAppend(&head, "Connection: close\r\n");
  } else if (!form.http11) {
    absl::StrAppend(&head, "Connection: keep-alive\r\n");
  }
  return absl::StrCat(head, "\r\n");
}

Buffer BodyOf(std::string text) {
  Buffer body;
  if (text.empty()) return body;
  auto* const kept = new std::string(std::move(text));
  body.AppendUserData(kept->data(), kept->size(), [kept] { delete kept; });
  return body;
}

HttpResponse HttpErrorAnswer(int status, int code, absl::string_view text) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.fields.push_back({"x-rpc-error-code", absl::StrCat(code)});
  JsonWriter json;
  json.BeginObject();
  json.Field("error_code", code);
  json.Field("error", ErrorName(code));
  json.Field("error_text", text.substr(0, kMaxErrorText));
  json.EndObject();
  response.body = BodyOf(json.Take() + "\n");
  return response;
}

}  // namespace farcall
