// SPDX-License-Identifier: Apache-2.0

#include "rpc/traffic_class.h"

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace farcall {
namespace {

constexpr char kVariable[] = "FARCALL_TRAFFIC_CLASS";

}  // namespace

absl::StatusOr<int> TrafficClass(int option) {
  if (option != kTrafficClassFromEnvironment) return option;
  const char* const text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return 0;
  return ParseTrafficClass(text);
}

absl::StatusOr<int> ParseTrafficClass(absl::string_view text) {
  absl::string_view digits = text;
  int value = 0;
  const bool hex = absl::ConsumePrefix(&digits, "0x") || absl::ConsumePrefix(&digits, "0X");
  const bool number = hex ? absl::SimpleHexAtoi(digits, &value) : absl::SimpleAtoi(digits, &value);
  if (!number || value < 0 || value > 255) {
    return absl::InvalidArgumentError(
        absl::StrCat(kVariable, " is '", text, "'; it must be 0 to 255, or 0x0 to 0xff"));
  }
  return value;
}

}  // namespace farcall
