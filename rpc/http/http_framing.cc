// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_framing.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace farcall {
namespace {

bool IsDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return absl::ascii_isdigit(c); });
}

HttpFraming Refused(int status, const char* text) {
  return {.refusal = {.status = status, .text = text}};
}

}  // namespace

HttpFraming FindFraming(const HttpRequest& request) {
  int hosts = 0;
  const std::string* length = nullptr;
  const std::string* coding = nullptr;
  for (const HttpField& field : request.fields) {
    if (absl::EqualsIgnoreCase(field.name, "Host")) ++hosts;
    if (absl::EqualsIgnoreCase(field.name, "Content-Length")) {
      // Beast takes a list of equal numbers.
      if (length != nullptr || !IsDigits(field.value)) {
        return Refused(400, "Content-Length must be there once at most, and be one number");
      }
      length = &field.value;
    }
    if (absl::EqualsIgnoreCase(field.name, "Transfer-Encoding")) {
      if (coding != nullptr) return Refused(400, "there is more than one Transfer-Encoding");
      coding = &field.value;
    }
  }
  if (hosts > 1 || (hosts == 0 && request.http11)) {
    return Refused(400, "a request needs the field Host, once");
  }
  if (coding != nullptr) {
    if (length != nullptr) return Refused(400, "there is Content-Length beside Transfer-Encoding");
    if (!request.http11) return Refused(400, "HTTP/1.0 has no Transfer-Encoding");
    // Beast looks for no more than "chunked" at the end of the list, and else sees no body.
    if (!absl::EqualsIgnoreCase(*coding, "chunked")) {
      return Refused(501, "no Transfer-Encoding but chunked is known here");
    }
  }
  const std::string* const expect = request.http11 ? request.Find("Expect") : nullptr;
  if (expect != nullptr && !absl::EqualsIgnoreCase(*expect, "100-continue")) {
    return Refused(417, "no expectation but 100-continue is known here");
  }
  HttpFraming framing;
  framing.has_length = length != nullptr;
  framing.chunked = coding != nullptr;
  framing.expects_continue = expect != nullptr;
  return framing;
}

}  // namespace farcall
