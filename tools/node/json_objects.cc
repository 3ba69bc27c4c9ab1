// SPDX-License-Identifier: Apache-2.0

#include "tools/node/json_objects.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace farcall::node {
namespace {

size_t LineOf(absl::string_view text, size_t at) {
  return 1 +
         static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

// How many bytes the object at the front has; 0: it does not end.
size_t ObjectSize(absl::string_view text) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

absl::Status Wrong(absl::string_view text, size_t at, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", LineOf(text, at), ": ", what));
}

}  // namespace

absl::StatusOr<std::vector<absl::string_view>> SplitObjects(absl::string_view text) {
  std::vector<absl::string_view> objects;
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (absl::ascii_isspace(static_cast<unsigned char>(c)) || c == '[' || c == ']' || c == ',') {
      ++at;
      continue;
    }
    if (c != '{') {
      const absl::string_view found =
          text.substr(at, std::min<size_t>(text.find('\n', at) - at, 20));
      return Wrong(
          text, at,
          absl::StrCat("\"", absl::CHexEscape(found),
                       "\" is no JSON object: give one object of each node, nothing else"));
    }
    const size_t size = ObjectSize(text.substr(at));
    if (size == 0) return Wrong(text, at, "the object that begins here does not end: was it cut?");
    if (objects.size() == kMaxJsonObjects) {
      return Wrong(text, at, absl::StrCat("more than ", kMaxJsonObjects, " objects"));
    }
    objects.push_back(text.substr(at, size));
    at += size;
  }
  return objects;
}

}  // namespace farcall::node
