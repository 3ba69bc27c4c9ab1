// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_HOST_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_HOST_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/rdma/testing/fabric/device/fake_device.h"
#include "transport/rdma/testing/fabric/device/fake_fault_plan.h"
#include "transport/rdma/testing/fabric/device/fake_memory.h"
#include "transport/rdma/testing/fabric/device/fake_options.h"
#include "transport/testing/test_random.h"

namespace farcall {

// What the parts of the fabric share: devices, their memory and the paths between them, the time,
// what is to fail and what was done wrong. All of it, and all that hangs on it, with `mutex` held.
// What was made stays until the end, marked as destroyed, so that using it afterwards is a
// violation and not a crash.
struct FakeHost {
  // `ops`: what the inline functions of <infiniband/verbs.h> call.
  FakeHost(FakeFabricOptions fabric_options, const ibv_context_ops& ops);

  void Violation(std::string what);
  FakeDevice& Device(absl::string_view name);
  FakeContext& Open(FakeDevice& device, bool of_cm);
  // librdmacm's context of a plugged-in device; opened once.
  FakeContext& CmContext(FakeDevice& device);
  FakeContext* FindCmContext(const FakeDevice& device) const;  // null: it has none open
  bool RemovalPending(const FakeDevice& device) const;

  // Whether messages from one to the other get lost now.
  bool Lost(const FakeDevice& from, const FakeDevice& to) const {
    return from.removed || to.removed || !from.port_active || !to.port_active ||
           (!cuts.empty() && IsCut(from, to));
  }
  // They are, without any event.
  bool Silent(const FakeDevice& from, const FakeDevice& to) const;

  struct CutPath {
    const FakeDevice* a;
    const FakeDevice* b;
    bool silent;
    bool Joins(const FakeDevice& from, const FakeDevice& to) const {
      return (a == &from && b == &to) || (a == &to && b == &from);
    }
  };

  const FakeFabricOptions options;
  const ibv_context_ops data_path;
  std::mutex mutex;
  TestRandom random;
  uint64_t now = 0;  // steps
  FakeFaultPlan plan;
  std::vector<std::string> violations;
  bool violations_expected = false;
  int lists = 0;  // of devices, not yet freed
  std::vector<CutPath> cuts;
  std::vector<std::unique_ptr<FakeDevice>> devices;
  std::vector<std::unique_ptr<FakeContext>> contexts;
  FakeMemory memory;

 private:
  bool IsCut(const FakeDevice& from, const FakeDevice& to) const;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_HOST_H_
