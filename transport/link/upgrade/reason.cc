// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/reason.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "transport/why_not_rdma.h"

namespace farcall {

absl::Status ReasonOfPeer(uint32_t number, absl::string_view detail) {
  const std::string text = absl::CHexEscape(detail.substr(0, kMaxReasonText));
  if (number == 0 || number >= kWhyNotRdmaCount) {
    return NotRdma(WhyNotRdma::kPeerHasNone, text);
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
      return NotRdma(why, text);
    case WhyNotRdma::kNotAsked:
      return NotRdma(WhyNotRdma::kPeerOff, text);
    default:
      break;
  }
  return NotRdma(WhyNotRdma::kPeerHasNone,
                 absl::StrCat("there: ", Explain(why), text.empty() ? "" : ", ", text));
}

}  // namespace farcall
