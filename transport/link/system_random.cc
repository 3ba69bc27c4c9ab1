// SPDX-License-Identifier: Apache-2.0

#include "transport/link/system_random.h"

#include <sys/random.h>

#include <cerrno>

#include "transport/base/check.h"

namespace farcall {

void SystemRandom(std::span<uint8_t> bytes) {
  Check(bytes.size() <= 256, "few bytes are asked for");
  ssize_t got = -1;
  // EINTR only before the kernel's pool is ready, early after boot.
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  Check(got == static_cast<ssize_t>(bytes.size()), "the kernel gives random bytes");
}

}  // namespace farcall
