// SPDX-License-Identifier: Apache-2.0

#include "tools/node/parse.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace farcall::node {
namespace {

bool AllOf(absl::string_view text, bool (*is)(unsigned char)) {
  return std::all_of(text.begin(), text.end(), is);
}

// Takes the digits at the front of both; negative, zero or positive as their values compare.
int CompareNumbers(absl::string_view& left, absl::string_view& right) {
  const auto take = [](absl::string_view& text) {
    while (absl::ConsumePrefix(&text, "0")) {
    }
    size_t size = 0;
    while (size < text.size() && absl::ascii_isdigit(text[size])) ++size;
    const absl::string_view digits = text.substr(0, size);
    text.remove_prefix(size);
    return digits;
  };
  const absl::string_view a = take(left);
  const absl::string_view b = take(right);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

absl::optional<uint64_t> ParseNumber(absl::string_view text) {
  uint64_t number = 0;
  const bool hex = absl::StartsWith(text, "0x");
  const bool ok = hex ? absl::SimpleHexAtoi(text, &number) : absl::SimpleAtoi(text, &number);
  if (!ok) return absl::nullopt;
  return number;
}

absl::optional<std::string> ParseHex(absl::string_view text, size_t digits) {
  absl::ConsumePrefix(&text, "0x");
  if (text.size() != digits || !AllOf(text, absl::ascii_isxdigit)) return absl::nullopt;
  return absl::AsciiStrToLower(text);
}

std::string ParseState(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(": ", 1));
  const bool numbered = !parts.first.empty() && AllOf(parts.first, absl::ascii_isdigit);
  return std::string(numbered && !parts.second.empty() ? parts.second : text);
}

absl::optional<double> ParseRate(absl::string_view text) {
  const size_t unit = text.find(" Gb/sec");
  double rate = 0;
  if (unit == absl::string_view::npos || !absl::SimpleAtod(text.substr(0, unit), &rate)) {
    return absl::nullopt;
  }
  if (!(rate >= 0 && rate < 1e6)) return absl::nullopt;
  return rate;
}

bool IsPciAddress(absl::string_view text) {
  // DOMAIN:BUS:DEVICE.FUNCTION; the domain has four digits, or more behind some bridges.
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::ByAnyChar(":."));
  if (parts.size() != 4 || parts[0].size() < 4 || parts[0].size() > 8) return false;
  if (parts[1].size() != 2 || parts[2].size() != 2 || parts[3].size() != 1) return false;
  const size_t size = text.size();
  if (text[size - 2] != '.' || text[size - 5] != ':' || text[size - 8] != ':') return false;
  return std::all_of(parts.begin(), parts.end(),
                     [](absl::string_view part) { return AllOf(part, absl::ascii_isxdigit); });
}

bool IsEmptyGid(absl::string_view gid) {
  // A port without an address has its prefix only: fe80:: and then zeroes.
  absl::ConsumePrefix(&gid, "fe80");
  return std::all_of(gid.begin(), gid.end(), [](char c) { return c == '0' || c == ':'; });
}

std::string MacInGid(absl::string_view gid) {
  const std::vector<absl::string_view> words = absl::StrSplit(gid, ':');
  if (words.size() != 8) return "";
  std::vector<absl::string_view> bytes;
  for (const absl::string_view word : {words[0], words[1], words[2]}) {
    if (word.size() != 4) return "";
    bytes.push_back(word.substr(0, 2));
    bytes.push_back(word.substr(2));
  }
  return absl::StrJoin(bytes, ":");
}

std::string GidEndOf(absl::string_view address) {
  std::string bytes;
  for (const absl::string_view byte : absl::StrSplit(address, ':')) {
    if (byte.size() != 2 || !AllOf(byte, absl::ascii_isxdigit)) return "";
    bytes += absl::HexStringToBytes(byte);
  }
  if (bytes.size() == 6) {
    bytes.insert(3, "\xff\xfe");
    bytes[0] = static_cast<char>(bytes[0] ^ 0x02);
  } else if (bytes.size() == 20) {
    bytes.erase(0, 12);
  } else {
    return "";
  }
  std::string end = absl::BytesToHexString(bytes);
  for (const size_t word : {12, 8, 4}) end.insert(word, ":");
  return end;
}

absl::optional<std::string> AllowedCpus(absl::string_view status) {
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    if (absl::ConsumePrefix(&line, "Cpus_allowed_list:")) {
      return std::string(absl::StripAsciiWhitespace(line));
    }
  }
  return absl::nullopt;
}

std::vector<std::string> DefaultRouteInterfaces(absl::string_view routes) {
  std::vector<std::string> interfaces;
  for (const absl::string_view line : absl::StrSplit(routes, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    // Iface Destination Gateway Flags RefCnt Use Metric Mask ...
    if (words.size() < 8 || words[1] != "00000000" || words[7] != "00000000") continue;
    interfaces.emplace_back(words[0]);
  }
  return interfaces;
}

absl::optional<std::string> ParseNetnsMode(absl::string_view text) {
  if (text == "Y" || text == "1") return std::string("shared");
  if (text == "N" || text == "0") return std::string("exclusive");
  return absl::nullopt;
}

bool NaturalLess(absl::string_view left, absl::string_view right) {
  const absl::string_view a = left;
  const absl::string_view b = right;
  while (!left.empty() && !right.empty()) {
    if (absl::ascii_isdigit(left[0]) && absl::ascii_isdigit(right[0])) {
      const int order = CompareNumbers(left, right);
      if (order != 0) return order < 0;
      continue;
    }
    if (left[0] != right[0]) return left[0] < right[0];
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  if (left.empty() != right.empty()) return left.empty();
  return a < b;  // "a01" and "a1"
}

}  // namespace farcall::node
