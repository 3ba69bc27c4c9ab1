// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_head_scanner.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

constexpr size_t kMaxMethod = 16;
constexpr size_t kMaxVersion = 16;

bool IsVisible(char c) { return c > ' ' && c < '\x7f'; }

// A field's value: also space, tab, and bytes beyond ASCII.
bool IsValueChar(char c) { return IsVisible(c) || c == ' ' || c == '\t' || (c & 0x80) != 0; }

std::string Quoted(char c) {
  return absl::StrCat("\"", absl::CHexEscape(absl::string_view(&c, 1)), "\"");
}

}  // namespace

bool IsHttpTokenChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         (c != '\0' && absl::string_view("!#$%&'*+-.^_`|~").find(c) != absl::string_view::npos);
}

bool HttpHeadScanner::Scan(absl::string_view bytes) {
  for (const char byte : bytes) {
    ++size_;
    Step(byte);
    if (refusal_.status != 0 || complete()) return true;
    if (size_ >= limits_.max_head_size) {
      Refuse(431, absl::StrCat("the request line and header fields are larger than ",
                               limits_.max_head_size, " bytes"));
      return true;
    }
  }
  return false;
}

void HttpHeadScanner::Step(char byte) {
  ++length_;
  switch (part_) {
    case Part::kStart:
      return StepStart(byte);
    case Part::kStartLf:
      return StepLf(byte, Part::kMethod);
    case Part::kMethod:
      return StepMethod(byte);
    case Part::kTarget:
      return StepTarget(byte);
    case Part::kVersion:
      if (byte == '\r') return Turn(Part::kLineLf);
      if (!IsVisible(byte) || length_ > kMaxVersion) {
        Refuse(400, "the request line does not end in an HTTP version and CR LF");
      }
      return;
    case Part::kLineLf:
      return StepLf(byte, Part::kName);
    case Part::kName:
      return StepName(byte);
    case Part::kValue:
      if (byte == '\r') return Turn(Part::kLineLf);
      if (!IsValueChar(byte)) {
        Refuse(400, absl::StrCat("a header field's value holds the character ", Quoted(byte)));
      }
      return;
    case Part::kLastLf:
      return StepLf(byte, Part::kEnd);
    case Part::kEnd:
      return;
  }
}

void HttpHeadScanner::StepStart(char byte) {
  if (byte == '\r') {
    blank_ = 2;
    return Turn(Part::kStartLf);
  }
  Turn(Part::kMethod);
  length_ = 1;
  StepMethod(byte);
}

void HttpHeadScanner::StepMethod(char byte) {
  if (byte == ' ' && length_ > 1) return Turn(Part::kTarget);
  if (!IsHttpTokenChar(byte)) {
    return Refuse(400,
                  absl::StrCat("no HTTP request: its method holds the character ", Quoted(byte)));
  }
  if (length_ > kMaxMethod) Refuse(501, "no method has so long a name");
}

void HttpHeadScanner::StepTarget(char byte) {
  if (byte == ' ' && length_ > 1) return Turn(Part::kVersion);
  if (!IsVisible(byte)) {
    return Refuse(400, absl::StrCat("the request's target holds the character ", Quoted(byte)));
  }
  if (length_ > limits_.max_target_size) {
    Refuse(414,
           absl::StrCat("the request's target is longer than ", limits_.max_target_size, " bytes"));
  }
}

void HttpHeadScanner::StepName(char byte) {
  if (length_ == 1) {
    if (byte == '\r') return Turn(Part::kLastLf);
    if (byte == ' ' || byte == '\t') return Refuse(400, "a header field is folded over two lines");
    if (++fields_ > limits_.max_fields) {
      return Refuse(431,
                    absl::StrCat("there are more than ", limits_.max_fields, " header fields"));
    }
  } else if (byte == ':') {
    return Turn(Part::kValue);
  }
  if (byte == ' ' || byte == '\t') {
    return Refuse(400, "there is space before the colon of a header field");
  }
  if (!IsHttpTokenChar(byte)) {
    Refuse(400, absl::StrCat("a header field's name holds the character ", Quoted(byte)));
  }
}

void HttpHeadScanner::StepLf(char byte, Part next) {
  if (byte != '\n') return Refuse(400, "a CR is not followed by LF");
  Turn(next);
}

void HttpHeadScanner::Turn(Part next) {
  part_ = next;
  length_ = 0;
}

void HttpHeadScanner::Refuse(int status, absl::string_view text) {
  refusal_.status = status;
  refusal_.text = std::string(text);
}

}  // namespace farcall
