// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/json_object.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace farcall::bench {
namespace {

void AppendQuoted(std::string& out, absl::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

void JsonObject::AddKey(absl::string_view key) {
  if (!members_.empty()) {
    members_ += ", ";
  }
  AppendQuoted(members_, key);
  members_ += ": ";
}

void JsonObject::AddText(absl::string_view key, absl::string_view value) {
  AddKey(key);
  AppendQuoted(members_, value);
}

void JsonObject::AddInteger(absl::string_view key, int64_t value) {
  AddKey(key);
  absl::StrAppend(&members_, value);
}

void JsonObject::AddNumber(absl::string_view key, double value) {
  AddKey(key);
  if (std::isfinite(value)) {
    absl::StrAppendFormat(&members_, "%.10g", value);
  } else {
    members_ += "null";
  }
}

void JsonObject::AddObject(absl::string_view key, const JsonObject& value) {
  AddKey(key);
  members_ += value.ToString();
}

std::string JsonObject::ToString() const { return absl::StrCat("{", members_, "}"); }

}  // namespace farcall::bench
