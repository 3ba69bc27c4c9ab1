// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_PEER_TRUST_H_
#define FARCALL_TRANSPORT_PEER_TRUST_H_

#include <cstdint>

namespace farcall {

// Whether a server knows who the peer of a connection is (Connection::TrustPeer).
enum class PeerTrust : uint8_t { kUntrusted, kTrusted };

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_PEER_TRUST_H_
