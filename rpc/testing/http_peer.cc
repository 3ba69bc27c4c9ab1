// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/http_peer.h"

#include <stdio.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

constexpr absl::string_view kEnd = "\r\n\r\n";

size_t ContentLength(absl::string_view head) {
  constexpr absl::string_view kField = "\r\nContent-Length: ";
  const size_t at = head.find(kField);
  Check(at != absl::string_view::npos, "each answer tells its length");
  const absl::string_view rest = head.substr(at + kField.size());
  size_t length = 0;
  Check(absl::SimpleAtoi(rest.substr(0, rest.find('\r')), &length), "a length is a number");
  return length;
}

}  // namespace

std::optional<HttpPeer::Answer> HttpPeer::Receive() {
  size_t end;
  while ((end = input().ToString().find(kEnd.data(), 0, kEnd.size())) == std::string::npos) {
    if (ReadSome() <= 0) return std::nullopt;
  }
  Answer answer;
  answer.head = ReceiveBytes(end + kEnd.size());
  Check(absl::StartsWith(answer.head, "HTTP/1.1 ") &&
            absl::SimpleAtoi(answer.head.substr(9, 3), &answer.status),
        "an answer begins with its status");
  const size_t length = answer.status == 100 ? 0 : ContentLength(answer.head);
  answer.body = ReceiveBytes(length);
  if (answer.body.size() < length) return std::nullopt;
  return answer;
}

std::optional<HttpPeer::Answer> HttpPeer::Ask(absl::string_view bytes) {
  if (!Send(bytes)) return std::nullopt;
  return Receive();
}

std::string HttpGet(absl::string_view path, absl::string_view fields) {
  return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: test\r\n", fields, "\r\n");
}

std::string HttpPost(absl::string_view path, absl::string_view body, absl::string_view fields) {
  return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", body.size(),
                      "\r\n", fields, "\r\n", body);
}

std::optional<std::string> Curl(const std::string& arguments) {
  const std::string command = absl::StrCat("curl -sS --noproxy '*' --max-time ",
                                           kTestTimeout.count(), " ", arguments, " 2>&1");
  FILE* const output = ::popen(command.c_str(), "re");
  Check(output != nullptr, "a test starts processes");
  std::string text;
  char bytes[4096];
  while (const size_t got = ::fread(bytes, 1, sizeof(bytes), output)) text.append(bytes, got);
  if (::pclose(output) != 0) return std::nullopt;
  return text;
}

}  // namespace farcall
