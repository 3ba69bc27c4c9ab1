// SPDX-License-Identifier: Apache-2.0

#include "transport/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace farcall {

void CheckFailed(const char* what, const char* file, int line, const char* function) {
  std::fprintf(stderr, "farcall: check failed at %s:%d in %s: %s\n", file, line, function, what);
  std::fflush(stderr);
  std::abort();
}

}  // namespace farcall
