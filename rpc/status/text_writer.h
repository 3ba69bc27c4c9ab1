// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_TEXT_WRITER_H_
#define FARCALL_RPC_STATUS_TEXT_WRITER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/status/field_writer.h"

namespace farcall {

// Writes an object for people and for mail:
//
//   key value            a field of the object
//
//   [key]                an object or array in it
//   key value
//   key: key value, key (key value, key value)
//   list:
//     key value, key value
//
// Of what shares a line only fields that are not empty or zero are written.
class TextWriter final : public FieldWriter {
 public:
  using FieldWriter::Value;
  void Key(absl::string_view key) override { key_ = std::string(key); }
  void Value(absl::string_view text) override { Put(text, text.empty()); }
  void Value(bool yes) override { Put(yes ? "yes" : "no", false); }
  void Value(double number) override;
  // Null are limits where there is none.
  void Null() override { Put("no limit", true); }
  // UTC, to a millisecond.
  void Moment(absl::string_view key, std::chrono::system_clock::time_point time) override;

  std::string Take() { return std::move(text_); }

 private:
  // How the values of an object or array are written.
  enum class Form {
    kTop,        // the outermost object
    kSection,    // [key]
    kLines,      // an array in a section: a line for each value
    kLine,       // all in one line
    kInBrackets  // likewise, in a line of others
  };
  struct Group {
    Form form;
    size_t begin;  // in the text, with its key
    size_t first;  // where its values begin
  };

  void Begin(char bracket) override;
  void End(char bracket) override;
  void Whole(absl::string_view number) override { Put(number, number == "0"); }
  void Put(absl::string_view value, bool may_be_left_out);
  bool in_line() const { return groups_.back().form >= Form::kLine; }
  // What stands before the next value of a line.
  absl::string_view Separator() const;

  std::string text_;
  std::string key_;  // of the next value; empty in arrays
  std::vector<Group> groups_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_TEXT_WRITER_H_
