// SPDX-License-Identifier: Apache-2.0
//
// Whatever a peer sends is refused, or is a message that is written and read as the same.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/rdma/cm/port_set_up.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace farcall;
  const auto message = ParsePortSetUp(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!message.ok()) return 0;
  const auto again = ParsePortSetUp(EncodePortSetUp(*message));
  Check(again.ok() && *again == *message, "a message that is written is read as the same");
  return 0;
}
