// SPDX-License-Identifier: Apache-2.0

#include "transport/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace farcall {

void CheckFailed(const char* what, const std::source_location& where) {
  std::fprintf(stderr, "farcall: check failed at %s:%u in %s: %s\n", where.file_name(),
               where.line(), where.function_name(), what);
  std::fflush(stderr);
  std::abort();
}

}  // namespace farcall
