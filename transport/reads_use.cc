// SPDX-License-Identifier: Apache-2.0

#include "transport/reads_use.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

struct Words {
  absl::string_view name;
  absl::string_view meaning;
};

constexpr std::array<Words, 9> kWords = {{
    {"never", "no: rdma.read_at_least is never"},
    {"no_windows",
     "no: the device has no memory windows of type 2, or may read only into memory "
     "that is open to all"},
    {"windows_fail", "no: the memory windows of the device failed"},
    {"always", "yes: rdma.read_at_least says from how many bytes on"},
    {"measuring", "not yet: both ways are measured while bytes wait to be sent"},
    {"no_room", "no: the device has no room for memory windows of this connection"},
    {"peer_does_not", "no: the peer fetches nothing"},
    {"sends_are_faster", "no: sends are faster"},
    {"reads_pay", "yes: RDMA READ is not slower"},
}};

std::string RateText(uint64_t rate) {
  const bool giga = rate >= 1'000'000'000;
  const double number = static_cast<double>(rate) / (giga ? 1e9 : 1e6);
  return absl::StrCat(std::round(number * 10) / 10, giga ? " GB/s" : " MB/s");
}

const Words& Of(ReadsWhy why) { return kWords[static_cast<size_t>(why)]; }

}  // namespace

absl::string_view Name(ReadsWhy why) { return Of(why).name; }

std::string Explain(const ReadsUse& use) {
  std::string text(Of(use.why).meaning);
  if (use.send_rate > 0 && use.read_rate > 0) {
    absl::StrAppend(&text, "; sends carried ", RateText(use.send_rate), ", RDMA READ ",
                    RateText(use.read_rate));
  }
  return text;
}

ReadsWhy ReadsOfDevice(uint32_t at_least, bool windows, bool fail) {
  if (at_least == kReadNever) return ReadsWhy::kNever;
  if (!windows) return ReadsWhy::kNoWindows;
  if (fail) return ReadsWhy::kWindowsFail;
  return at_least == kReadAuto ? ReadsWhy::kMeasuring : ReadsWhy::kAlways;
}

}  // namespace farcall
