// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_JSON_WRITER_H_
#define FARCALL_RPC_STATUS_JSON_WRITER_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "rpc/status/field_writer.h"

namespace farcall {

// Writes one JSON value (RFC 8259). Strings may hold any bytes: what is not UTF-8 becomes U+FFFD,
// and < > & are escaped, so that the text may stand inside an HTML script element.
class JsonWriter final : public FieldWriter {
 public:
  using FieldWriter::Value;
  void Key(absl::string_view key) override;
  void Value(absl::string_view text) override;
  void Value(bool yes) override { Raw(yes ? "true" : "false"); }
  // Ten digits; null where it is no number.
  void Value(double number) override;
  void Null() override { Raw("null"); }
  // "KEY_unix_s": seconds since 1970.
  void Moment(absl::string_view key, std::chrono::system_clock::time_point time) override;

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  void Begin(char bracket) override;
  void End(char bracket) override;
  void Whole(absl::string_view number) override { Raw(number); }
  void Raw(absl::string_view text);
  void Quoted(absl::string_view text);

  std::string text_;
  bool comma_ = false;  // before the next key or value
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_JSON_WRITER_H_
