// SPDX-License-Identifier: Apache-2.0

#include "rpc/environment.h"

#include <cstdlib>

namespace farcall {

std::string FromEnvironment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace farcall
