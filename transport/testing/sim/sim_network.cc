// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_network.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace farcall {

TestRandom SimNetwork::NextRandom() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return TestRandom(random_.Next());
}

Address SimNetwork::NextClientAddress() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++clients_;
  return Address::Ipv4({10, 1, static_cast<uint8_t>(clients_ >> 8), static_cast<uint8_t>(clients_)},
                       static_cast<uint16_t>(clients_ >> 16 | 1));
}

absl::StatusOr<Address> SimNetwork::Open(const Address& address,
                                         std::shared_ptr<SimListening> listening) {
  if (address.family() == AddressFamily::kNone) {
    return absl::InvalidArgumentError("no address was given");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  Address bound = address;
  if (address.family() == AddressFamily::kIpv4 && address.port() == 0) {
    std::array<uint8_t, 4> ip{};
    std::copy_n(address.ip().begin(), ip.size(), ip.begin());
    bound = Address::Ipv4(ip, ++ports_);
  }
  if (!listening_.emplace(bound.ToString(), std::move(listening)).second) {
    return absl::AlreadyExistsError("already in use");
  }
  return bound;
}

void SimNetwork::Close(const Address& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  listening_.erase(address.ToString());
}

std::shared_ptr<SimListening> SimNetwork::Find(const Address& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = listening_.find(address.ToString());
  return found == listening_.end() ? nullptr : found->second;
}

void SimNetwork::Silence(const Address& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  silent_.insert(address.ToString());
}

bool SimNetwork::Silent(const Address& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return silent_.count(address.ToString()) > 0;
}

}  // namespace farcall
