// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/json_string.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// Bytes of the UTF-8 sequence at the front of `text` (RFC 3629, section 4); 0: it is none.
size_t Utf8Length(absl::string_view text) {
  const auto byte = [text](size_t i) -> uint8_t {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  const auto tail = [byte](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint8_t first = byte(0);
  const uint8_t second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool proper = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f);
    return proper && tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool proper = !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
    return proper && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string JsonString(absl::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string json = "\"";
  while (!text.empty()) {
    const char c = text[0];
    const size_t length = Utf8Length(text);
    if (c == '"' || c == '\\') {
      absl::StrAppend(&json, "\\", text.substr(0, 1));
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '<') {
      // "<" too: a browser that takes the answer for HTML finds no tag in it.
      absl::StrAppend(&json, "\\u00", std::string(1, kHex[c >> 4]), std::string(1, kHex[c & 15]));
    } else if (length == 0) {
      absl::StrAppend(&json, "\xef\xbf\xbd");
    } else {
      absl::StrAppend(&json, text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return absl::StrCat(json, "\"");
}

}  // namespace farcall
