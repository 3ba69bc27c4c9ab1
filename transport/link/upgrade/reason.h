// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_REASON_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_REASON_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace farcall {

// Bytes of a text of the peer's that count; the rest is cut.
constexpr size_t kMaxReasonText = 256;

// The reason that a peer gave by number and detail, as an error of this end: what the
// peer's host lacks is kPeerHasNone here, in words. Unprintable bytes are escaped.
absl::Status ReasonOfPeer(uint32_t number, absl::string_view detail);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_REASON_H_
