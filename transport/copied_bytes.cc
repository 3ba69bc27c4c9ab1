// SPDX-License-Identifier: Apache-2.0

#include "transport/copied_bytes.h"

namespace farcall {

absl::string_view ToString(CopyCause cause) {
  switch (cause) {
    case CopyCause::kSentUnregistered:
      return "sent_unregistered";
    case CopyCause::kSentSmall:
      return "sent_small";
    case CopyCause::kReceivedSmall:
      return "received_small";
    case CopyCause::kNotLanded:
      return "not_landed";
  }
  return "unknown";
}

}  // namespace farcall
