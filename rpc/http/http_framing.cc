// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_framing.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace farcall {
namespace {

bool IsDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return absl::ascii_isdigit(c); });
}

// A list of tokens; `close` and `keep_alive` say whether these are among them. False: it is none.
bool ReadConnection(absl::string_view value, bool& close, bool& keep_alive) {
  for (absl::string_view option : absl::StrSplit(value, ',')) {
    option = absl::StripAsciiWhitespace(option);
    if (!std::all_of(option.begin(), option.end(), IsHttpTokenChar)) return false;
    close |= absl::EqualsIgnoreCase(option, "close");
    keep_alive |= absl::EqualsIgnoreCase(option, "keep-alive");
  }
  return true;
}

HttpFraming Refused(int status, const char* text) {
  return {.refusal = {.status = status, .text = text}};
}

constexpr absl::string_view kEnd = "\r\n";
constexpr ChunkHead kIncomplete{.well_formed = true};
constexpr ChunkHead kMalformed{.well_formed = false};

bool HoldsControl(absl::string_view line) {
  return std::any_of(line.begin(), line.end(),
                     [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

// The line at the front of `rest`, taken out of it with its end. False: it is not complete.
bool TakeLine(absl::string_view& rest, absl::string_view& line) {
  const size_t end = rest.find(kEnd);
  line = rest.substr(0, end);
  if (end == absl::string_view::npos) return false;
  rest.remove_prefix(end + kEnd.size());
  return true;
}

// Of a line whose end has not come. A CR may be the first half of that end.
bool MayBecomeLine(absl::string_view line) {
  if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
  return !HoldsControl(line);
}

// Takes what is a token (RFC 9110, section 5.6.2) at the front of `text` out of it. False: none is.
bool TakeToken(absl::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsHttpTokenChar);
  const auto size = static_cast<size_t>(end - text.begin());
  text.remove_prefix(size);
  return size > 0;
}

// A quoted string, whose first quote was taken.
bool TakeQuoted(absl::string_view& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

void SkipSpace(absl::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Each ";name", ";name=token" or ";name="quoted string""; space may surround the names.
bool AreExtensions(absl::string_view text) {
  while (!text.empty()) {
    if (!absl::ConsumePrefix(&text, ";")) return false;
    SkipSpace(text);
    if (!TakeToken(text)) return false;
    SkipSpace(text);
    if (!absl::ConsumePrefix(&text, "=")) continue;
    SkipSpace(text);
    if (!(absl::ConsumePrefix(&text, "\"") ? TakeQuoted(text) : TakeToken(text))) return false;
    SkipSpace(text);
  }
  return true;
}

bool IsTrailerField(absl::string_view line) {
  const absl::string_view name = line.substr(0, line.find(':'));
  absl::string_view rest = line;
  return TakeToken(rest) && absl::StartsWith(rest, ":") &&
         !absl::EqualsIgnoreCase(name, "Content-Length") &&
         !absl::EqualsIgnoreCase(name, "Transfer-Encoding");
}

}  // namespace

HttpFraming FindFraming(const HttpRequest& request) {
  HttpFraming framing;
  int hosts = 0;
  bool close = false;
  bool keep_alive = request.http11;
  const std::string* length = nullptr;
  const std::string* coding = nullptr;
  for (const HttpField& field : request.fields) {
    if (absl::EqualsIgnoreCase(field.name, "Host")) ++hosts;
    if (absl::EqualsIgnoreCase(field.name, "Content-Length")) {
      if (length != nullptr || !IsDigits(field.value) ||
          !absl::SimpleAtoi(field.value, &framing.length)) {
        return Refused(400, "Content-Length must be there once at most, and be one number");
      }
      length = &field.value;
    }
    if (absl::EqualsIgnoreCase(field.name, "Transfer-Encoding")) {
      if (coding != nullptr) return Refused(400, "there is more than one Transfer-Encoding");
      coding = &field.value;
    }
    if (absl::EqualsIgnoreCase(field.name, "Connection") &&
        !ReadConnection(field.value, close, keep_alive)) {
      return Refused(400, "Connection is a list of words");
    }
  }
  if (hosts > 1 || (hosts == 0 && request.http11)) {
    return Refused(400, "a request needs the field Host, once");
  }
  if (coding != nullptr) {
    if (length != nullptr) return Refused(400, "there is Content-Length beside Transfer-Encoding");
    if (!request.http11) return Refused(400, "HTTP/1.0 has no Transfer-Encoding");
    if (!absl::EqualsIgnoreCase(*coding, "chunked")) {
      return Refused(501, "no Transfer-Encoding but chunked is known here");
    }
  }
  const std::string* const expect = request.http11 ? request.Find("Expect") : nullptr;
  if (expect != nullptr && !absl::EqualsIgnoreCase(*expect, "100-continue")) {
    return Refused(417, "no expectation but 100-continue is known here");
  }
  framing.keep_alive = keep_alive && !close;
  framing.chunked = coding != nullptr;
  framing.expects_continue = expect != nullptr;
  return framing;
}

ChunkHead FindChunkHead(absl::string_view bytes, bool first) {
  absl::string_view rest = bytes;
  if (!first) {
    if (!absl::StartsWith(rest, kEnd.substr(0, rest.size()))) return kMalformed;
    if (rest.size() < kEnd.size()) return kIncomplete;
    rest.remove_prefix(kEnd.size());
  }
  absl::string_view line;
  const bool whole = TakeLine(rest, line);
  if (!whole && !MayBecomeLine(line)) return kMalformed;
  const auto digits_end = std::find_if_not(line.begin(), line.end(),
                                           [](unsigned char c) { return absl::ascii_isxdigit(c); });
  const absl::string_view digits = line.substr(0, digits_end - line.begin());
  const absl::string_view extensions = line.substr(digits.size());
  if (whole || !(extensions.empty() || extensions == "\r")) {
    const bool separate = extensions.empty() || extensions[0] == ';';
    if (digits.empty() || !separate || HoldsControl(whole ? line : "")) return kMalformed;
  }
  if (!whole) return kIncomplete;
  ChunkHead head{.extra = extensions.size()};
  if (!AreExtensions(extensions) || !absl::SimpleHexAtoi(digits, &head.data)) return kMalformed;
  while (head.data == 0) {
    if (!TakeLine(rest, line)) return MayBecomeLine(line) ? kIncomplete : kMalformed;
    if (line.empty()) break;
    if (HoldsControl(line) || !IsTrailerField(line)) return kMalformed;
    head.extra += line.size() + kEnd.size();
  }
  head.size = bytes.size() - rest.size();
  return head;
}

}  // namespace farcall
