// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/number_text.h"

#include "absl/strings/str_format.h"

namespace farcall::bench {
namespace {

std::string WithCommas(const std::string& digits) {
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace

std::string NumberText(double value) {
  if (value == 0) return "0";
  // What would be rounded up to a further digit is shown with one less after the point.
  if (value < 9.995) return absl::StrFormat("%.2f", value);
  if (value < 99.95) return absl::StrFormat("%.1f", value);
  return WithCommas(absl::StrFormat("%.0f", value));
}

std::string CountText(uint64_t count) { return WithCommas(absl::StrFormat("%d", count)); }

std::string MicrosText(std::chrono::nanoseconds time) {
  return NumberText(static_cast<double>(time.count()) / 1e3);
}

}  // namespace farcall::bench
