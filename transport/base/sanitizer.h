// SPDX-License-Identifier: Apache-2.0
//
// What this is compiled with. Tests use it for what a sanitizer makes slower or larger; what would
// hide from AddressSanitizer that it is used after its end is not kept for another use. gcc tells
// by a macro, clang by a feature.

#ifndef FARCALL_TRANSPORT_BASE_SANITIZER_H_
#define FARCALL_TRANSPORT_BASE_SANITIZER_H_

namespace farcall {

#if defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#endif
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_SANITIZER_H_
