// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/choice/port_end.h"

#include <algorithm>

namespace farcall {

std::array<uint8_t, 16> NameOf(const Address& address) {
  if (address.family() == AddressFamily::kIpv6) return address.ip();
  std::array<uint8_t, 16> name{};
  name[10] = name[11] = 0xff;
  std::copy_n(address.ip().begin(), 4, name.begin() + 12);
  return name;
}

}  // namespace farcall
