// SPDX-License-Identifier: Apache-2.0

#include "rpc/traffic_class.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace farcall {
namespace {

constexpr int kExpeditedForwarding = 46;

bool IsDigit(char c, int least, int most) { return c >= '0' + least && c <= '0' + most; }

std::optional<int> DscpOfName(absl::string_view text) {
  const std::string name = absl::AsciiStrToLower(text);
  absl::string_view digits = name;
  if (name == "ef") return kExpeditedForwarding;
  if (absl::ConsumePrefix(&digits, "cs") && digits.size() == 1 && IsDigit(digits[0], 0, 7)) {
    return (digits[0] - '0') * 8;
  }
  // Class and drop precedence.
  if (absl::ConsumePrefix(&digits, "af") && digits.size() == 2 && IsDigit(digits[0], 1, 4) &&
      IsDigit(digits[1], 1, 3)) {
    return (digits[0] - '0') * 8 + (digits[1] - '0') * 2;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<int> ParseTrafficClass(absl::string_view text) {
  if (const std::optional<int> dscp = DscpOfName(text)) return *dscp << 2;
  absl::string_view digits = text;
  int value = 0;
  const bool hex = absl::ConsumePrefix(&digits, "0x") || absl::ConsumePrefix(&digits, "0X");
  const bool number = hex ? absl::SimpleHexAtoi(digits, &value) : absl::SimpleAtoi(digits, &value);
  if (!number || value < 0 || value > 255) {
    return absl::InvalidArgumentError(
        absl::StrCat("a traffic class is '", text, "'; it must be ", kTrafficClassExpected));
  }
  return value;
}

}  // namespace farcall
