// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/strings/str_cat.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/gids.h"

namespace farcall::doctor {

Finding CheckNamespace(const node::Inventory& inventory, const std::vector<OwnAddress>& own) {
  constexpr const char* kNamespace = "namespace";
  const std::string& mode = inventory.rdma_netns_mode();
  int here = 0;
  for (const node::Device& device : inventory.devices()) {
    if (HasAddressHere(inventory, device, own)) ++here;
  }
  const int all = inventory.devices_size();
  if (mode.empty()) {
    return Unknown(
        kNamespace, "",
        "the RDMA namespace mode is not readable (ib_core is not loaded, or /sys is masked)", "",
        "rdma system show");
  }
  if (mode == "exclusive") {
    return {kNamespace,
            "",
            all == 0 ? Verdict::kFailed : Verdict::kOk,
            absl::StrCat("exclusive: of the host's devices only those of this network namespace "
                         "are shown, ",
                         all),
            all == 0 ? "a device must be given to this namespace to be seen" : "",
            all == 0 ? "rdma dev set DEVICE netns NAME, which rdma-cni does for pods" : ""};
  }
  const std::string text = absl::StrCat(mode,
                                        ": all devices of the host are shown in each network "
                                        "namespace, ",
                                        all, "; with an address here: ", here);
  if (here == all) return Ok(kNamespace, "", text);
  return Ok(kNamespace, "", text,
            here == 0
                ? "none belongs to it: queue pairs are set up over TCP"
                : "those without an address here belong to other namespaces, and are passed over");
}

}  // namespace farcall::doctor
