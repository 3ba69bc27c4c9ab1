// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_SYSTEM_RANDOM_H_
#define FARCALL_TRANSPORT_LINK_SYSTEM_RANDOM_H_

#include <cstdint>
#include <span>

namespace farcall {

// getrandom(2): a RandomBytes for tokens. At most 256 bytes, which it gives whole. Any thread.
void SystemRandom(std::span<uint8_t> bytes);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_SYSTEM_RANDOM_H_
