// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/reason.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "transport/why_not_rdma.h"

namespace farcall {

absl::Status ReasonOfPeer(uint32_t number, absl::string_view detail) {
  const std::string told = absl::CHexEscape(detail.substr(0, kMaxReasonText));
  if (number == 0 || number >= kWhyNotRdmaCount) {
    return NotRdma(WhyNotRdma::kPeerHasNone, told);
  }
  const auto why = static_cast<WhyNotRdma>(number);
  switch (why) {
    // These mean the same at both ends.
    case WhyNotRdma::kPending:
    case WhyNotRdma::kCapacity:
    case WhyNotRdma::kNotForThisAddress:
    case WhyNotRdma::kPeerOff:
    case WhyNotRdma::kPeerHasNone:
    case WhyNotRdma::kUnreachable:
    case WhyNotRdma::kRejected:
    case WhyNotRdma::kTimedOut:
    case WhyNotRdma::kBroken:
    case WhyNotRdma::kTls:
      return NotRdma(why, told);
    case WhyNotRdma::kNotAsked:
      return NotRdma(WhyNotRdma::kPeerOff, told);
    default:
      break;
  }
  return NotRdma(WhyNotRdma::kPeerHasNone,
                 absl::StrCat("there: ", Explain(why), told.empty() ? "" : ", ", told));
}

}  // namespace farcall
