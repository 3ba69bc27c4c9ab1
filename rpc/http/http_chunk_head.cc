// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_chunk_head.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace farcall {
namespace {

constexpr absl::string_view kEnd = "\r\n";
constexpr ChunkHead kIncomplete{.size = 0, .well_formed = true};
constexpr ChunkHead kMalformed{.size = 0, .well_formed = false};

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

}  // namespace

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
  if (digits.find_first_not_of('0') != absl::string_view::npos) {
    return {.size = bytes.size() - rest.size(), .well_formed = true};
  }
  do {
    if (!TakeLine(rest, line)) return MayBecomeLine(line) ? kIncomplete : kMalformed;
    if (HoldsControl(line) || absl::StartsWith(line, " ") || absl::StartsWith(line, "\t")) {
      return kMalformed;
    }
  } while (!line.empty());
  return {.size = bytes.size() - rest.size(), .well_formed = true};
}

}  // namespace farcall
