// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/json_writer.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace farcall {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool IsTail(absl::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;
}

// How many bytes the character at the front of `text` has, by the table of RFC 3629 section 4;
// 0: it is none.
size_t CharacterSize(absl::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !IsTail(text, 1)) return 0;
  if (first < 0xE0) return 2;
  const auto second = static_cast<uint8_t>(text[1]);
  if (!IsTail(text, 2)) return 0;
  if (first < 0xF0) {
    // Not longer than needed, and no surrogates.
    const bool good = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0);
    return good ? 3 : 0;
  }
  const bool good = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
  return good && IsTail(text, 3) ? 4 : 0;
}

bool IsPlain(char c) {
  return static_cast<uint8_t>(c) >= 0x20 && c != '<' && c != '>' && c != '&' && c != 0x7F;
}

}  // namespace

void JsonWriter::Begin(char bracket) {
  Raw(absl::string_view(&bracket, 1));
  comma_ = false;
}

void JsonWriter::End(char bracket) {
  text_ += bracket;
  comma_ = true;
}

void JsonWriter::Raw(absl::string_view text) {
  if (comma_) text_ += ',';
  text_.append(text.data(), text.size());
  comma_ = true;
}

void JsonWriter::Key(absl::string_view key) {
  Value(key);
  text_ += ':';
  comma_ = false;
}

void JsonWriter::Value(absl::string_view text) {
  Raw("\"");
  Quoted(text);
  text_ += '"';
}

void JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  Raw(absl::StrFormat("%.10g", number));
}

void JsonWriter::Moment(absl::string_view key, std::chrono::system_clock::time_point time) {
  Field(absl::StrCat(key, "_unix_s"),
        std::chrono::duration<double>(time.time_since_epoch()).count());
}

void JsonWriter::Quoted(absl::string_view text) {
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    const absl::string_view character = text.substr(0, size);
    if (size == 0) {
      text_.append(kReplacement.data(), kReplacement.size());
    } else if (text[0] == '"' || text[0] == '\\') {
      text_ += '\\';
      text_ += text[0];
    } else if (size == 1 && !IsPlain(text[0])) {
      text_ += absl::StrFormat("\\u%04x", static_cast<uint8_t>(text[0]));
    } else if (character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9") {
      // Ends a line in older JavaScript.
      text_ += character == "\xE2\x80\xA8" ? "\\u2028" : "\\u2029";
    } else {
      text_.append(character.data(), character.size());
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

}  // namespace farcall
