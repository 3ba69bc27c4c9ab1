// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/text_writer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace farcall {

void TextWriter::Begin(char bracket) {
  const size_t begin = text_.size();
  const std::string key = std::exchange(key_, "");
  Form form = Form::kTop;
  if (groups_.empty()) {
    // The outermost object has no key.
  } else if (in_line()) {
    form = Form::kInBrackets;
    absl::StrAppend(&text_, Separator(), key, key.empty() ? "(" : " (");
  } else if (groups_.back().form == Form::kTop) {
    form = Form::kSection;
    absl::StrAppend(&text_, "\n[", key, "]\n");
  } else if (bracket == '[') {
    form = Form::kLines;
    absl::StrAppend(&text_, key, ":\n");
  } else {
    form = Form::kLine;
    absl::StrAppend(&text_, groups_.back().form == Form::kLines ? "  " : "", key,
                    key.empty() ? "" : ": ");
  }
  groups_.push_back({form, begin, text_.size()});
}

void TextWriter::End(char /*bracket*/) {
  const Group group = groups_.back();
  groups_.pop_back();
  if (group.form == Form::kTop || group.form == Form::kSection) return;
  if (text_.size() == group.first) {
    text_.resize(group.begin);
  } else if (group.form != Form::kLines) {
    text_ += group.form == Form::kLine ? "\n" : ")";
  }
}

void TextWriter::Value(double number) { Put(absl::StrFormat("%.10g", number), number == 0); }

void TextWriter::Moment(absl::string_view key, std::chrono::system_clock::time_point time) {
  Key(key);
  Value(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(time), absl::UTCTimeZone()));
}

void TextWriter::Put(absl::string_view value, bool may_be_left_out) {
  const std::string key = std::exchange(key_, "");
  if (in_line()) {
    if (may_be_left_out) return;
    absl::StrAppend(&text_, Separator());
  }
  absl::StrAppend(&text_, groups_.back().form == Form::kLines ? "  " : "", key,
                  key.empty() ? "" : " ", value, in_line() ? "" : "\n");
}

absl::string_view TextWriter::Separator() const {
  return text_.size() == groups_.back().first ? "" : ", ";
}

}  // namespace farcall
