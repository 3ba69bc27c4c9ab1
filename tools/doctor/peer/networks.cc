// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/networks.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace farcall::doctor {
namespace {

int BitsOf(const Address& address) { return address.family() == AddressFamily::kIpv4 ? 32 : 128; }

bool SameUntil(const Address& a, const Address& b, int bits) {
  for (int i = 0; i < bits; ++i) {
    const size_t byte = static_cast<size_t>(i) / 8;
    const int mask = 0x80 >> (i % 8);
    if (((a.ip()[byte] ^ b.ip()[byte]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Address> IpWithPort(absl::string_view ip, uint16_t port) {
  const bool v6 = absl::StrContains(ip, ":");
  return Address::Parse(v6 ? absl::StrCat("[", ip, "]:", port) : absl::StrCat(ip, ":", port));
}

absl::StatusOr<Networks> Networks::Parse(absl::string_view text) {
  Networks all;
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(word, absl::MaxSplits('/', 1));
    const auto first = IpWithPort(parts.first, 0);
    int bits = first.ok() ? BitsOf(*first) : 0;
    const int most = bits;
    const bool has_bits = absl::StrContains(word, "/");
    if (!first.ok() || (has_bits && !absl::SimpleAtoi(parts.second, &bits)) || bits < 0 ||
        bits > most) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", word, "\" is no network, as 10.0.0.0/8 or fd00::/8 is"));
    }
    all.networks_.push_back({*first, bits});
  }
  return all;
}

bool Networks::Contains(const Address& address) const {
  for (const Network& network : networks_) {
    if (network.first.family() == address.family() &&
        SameUntil(network.first, address, network.bits)) {
      return true;
    }
  }
  return false;
}

}  // namespace farcall::doctor
