// SPDX-License-Identifier: Apache-2.0
//
// Under AddressSanitizer the bytes of a free block are out of bounds, as those of
// freed memory are. In other builds nothing happens.

#ifndef FARCALL_TRANSPORT_BUFFER_POISON_H_
#define FARCALL_TRANSPORT_BUFFER_POISON_H_

#include <sanitizer/asan_interface.h>

#include <cstddef>

#include "transport/base/sanitizer.h"

namespace farcall {

inline void PoisonBytes([[maybe_unused]] const std::byte* data, [[maybe_unused]] size_t bytes) {
  ASAN_POISON_MEMORY_REGION(data, bytes);
}

inline void UnpoisonBytes([[maybe_unused]] const std::byte* data, [[maybe_unused]] size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
}

// Whether a use of `*data` would be reported. False where kAddressSanitizer is false.
inline bool IsPoisoned([[maybe_unused]] const std::byte* data) {
  if constexpr (kAddressSanitizer) return __asan_address_is_poisoned(data) != 0;
  return false;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_POISON_H_
