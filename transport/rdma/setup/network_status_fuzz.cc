// SPDX-License-Identifier: Apache-2.0
//
// Any text as the annotation. What must hold: nothing is read outside of it, and what is
// taken names addresses that can be compared.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/rdma/setup/network_status.h"

namespace farcall {
namespace {

void Run(absl::string_view text) {
  const auto networks = ParseNetworkStatus(text);
  if (!networks.ok()) return;
  for (const PodNetwork& network : *networks) {
    for (const Address& address : network.addresses) {
      Check(address.port() == 0, "an address has no port");
      Check(network.is_default || IsOfSecondNetwork(*networks, address, ""),
            "an address of a second network is one");
    }
  }
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of its own size, so that AddressSanitizer sees what is read behind it.
  const auto copy = std::make_unique<char[]>(size);
  for (size_t i = 0; i < size; ++i) copy[i] = static_cast<char>(data[i]);
  farcall::Run({copy.get(), size});
  return 0;
}
