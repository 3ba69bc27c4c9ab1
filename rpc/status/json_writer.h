// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_JSON_WRITER_H_
#define FARCALL_RPC_STATUS_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace farcall {

// Writes one JSON value (RFC 8259). Strings may hold any bytes: what is not UTF-8 becomes U+FFFD,
// and < > & are escaped, so that the text may stand inside an HTML script element. The caller
// keeps to the order: a key before each value of an object, an end for each beginning.
class JsonWriter {
 public:
  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }
  void Key(absl::string_view key);

  void Value(absl::string_view text);
  void Value(const char* text) { Value(absl::string_view(text)); }
  void Value(const std::string& text) { Value(absl::string_view(text)); }
  void Value(bool yes) { Raw(yes ? "true" : "false"); }
  template <std::integral Integer>
  void Value(Integer number) {
    Raw(std::to_string(number));
  }
  // Ten digits; null where it is no number.
  void Value(double number);
  void Null() { Raw("null"); }

  template <typename T>
  void Field(absl::string_view key, const T& value) {
    Key(key);
    Value(value);
  }

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  void Begin(char bracket);
  void End(char bracket);
  void Raw(absl::string_view text);
  void Quoted(absl::string_view text);

  std::string text_;
  bool comma_ = false;  // before the next key or value
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_JSON_WRITER_H_
