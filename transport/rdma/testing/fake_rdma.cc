// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fake_rdma.h"

#include "absl/strings/str_cat.h"

namespace farcall {

FakeRdma::FakeRdma(FakeMode mode, const Change& change, bool ipv6) {
  FakeFabricOptions options;
  options.mode = mode;
  options.devices.push_back({.name = "fakeC", .addresses = {"10.9.0.3", "fd09::3"}});
  // The fabric looks at the bytes of each receive: a quarter of the default.
  rig_.rdma.shared_receives = rig_.rdma.max_shared_receives = 128;
  rig_.view.sys_class = rig_.view.dev_directory = "/nowhere";
  rig_.rdma.set_up = RdmaSetUp::kRdmaCm;
  if (change) change(options, rig_);
  std::vector<LocalIp> addresses;
  for (const FakeDeviceOptions& device : options.devices) {
    for (const std::string& text : device.addresses) {
      addresses.push_back(
          {*Address::ParseIp(text), absl::StrCat("if_", device.name), device.ifindex});
    }
  }
  rig_.view.addresses = [addresses,
                         unreadable = unreadable_]() -> absl::StatusOr<std::vector<LocalIp>> {
    if (*unreadable) return absl::ResourceExhaustedError("getifaddrs: Too many open files");
    return addresses;
  };
  fabric_ = std::make_unique<FakeFabric>(options);
  if (!rig_.load) rig_.load = [this]() -> absl::StatusOr<VerbsApi> { return fabric_->api(); };
  for (const char* const name : {"fakeA", "fakeB", "fakeC"}) {
    fabric_->faults().CutPath(name, "fakeC", FakeFaults::Cut::kSilent);
  }
  const auto at = [ipv6](int host, uint16_t port) {
    return *Address::Parse(ipv6 ? absl::StrCat("[fd09::", host, "]:", port)
                                : absl::StrCat("10.9.0.", host, ":", port));
  };
  places_ = {at(2, 0), at(2, 1), at(3, 7)};
}

}  // namespace farcall
