// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/network_status.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "transport/rdma/setup/network_status.pb.h"

namespace farcall {
namespace {

absl::Status Wrong(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("it is no network status: ", why));
}

// Some write the length of the prefix, too.
absl::StatusOr<Address> ParseIp(absl::string_view text) {
  auto address = Address::ParseIp(text.substr(0, text.find('/')));
  if (address.ok()) return address;
  return Wrong(absl::StrCat("'", text.substr(0, 64), "' is not an IP address"));
}

}  // namespace

absl::StatusOr<std::vector<PodNetwork>> ParseNetworkStatus(absl::string_view text) {
  if (text.size() > kMaxNetworkStatus) {
    return Wrong(absl::StrCat("it has more than ", kMaxNetworkStatus, " bytes"));
  }
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return Wrong("it is empty");
  if (text.front() != '[' || text.back() != ']') return Wrong("it is not a JSON array");
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  network_status::Networks parsed;
  const auto read = google::protobuf::util::JsonStringToMessage(
      absl::StrCat("{\"networks\":", text, "}"), &parsed, options);
  if (!read.ok()) return Wrong({read.message().data(), read.message().size()});
  std::vector<PodNetwork> networks;
  for (const network_status::Network& each : parsed.networks()) {
    PodNetwork network{each.name(), each.interface(), {}, each.default_()};
    for (const std::string& ip : each.ips()) {
      auto address = ParseIp(ip);
      if (!address.ok()) return address.status();
      network.addresses.push_back(*std::move(address));
    }
    networks.push_back(std::move(network));
  }
  return networks;
}

bool IsOfSecondNetwork(const std::vector<PodNetwork>& networks, const Address& address,
                       absl::string_view interface) {
  return std::any_of(networks.begin(), networks.end(), [&](const PodNetwork& network) {
    if (network.is_default) return false;
    const auto& ips = network.addresses;
    return std::find(ips.begin(), ips.end(), address) != ips.end() ||
           (!network.interface.empty() && network.interface == interface);
  });
}

}  // namespace farcall
