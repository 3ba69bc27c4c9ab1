// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_WORLD_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_WORLD_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/rdma/testing/fabric/fake_cm.h"
#include "transport/rdma/testing/fabric/fake_completion_queue.h"
#include "transport/rdma/testing/fabric/fake_device.h"
#include "transport/rdma/testing/fabric/fake_fault_plan.h"
#include "transport/rdma/testing/fabric/fake_memory.h"
#include "transport/rdma/testing/fabric/fake_options.h"
#include "transport/rdma/testing/fabric/fake_queue_pair.h"
#include "transport/rdma/testing/fabric/fake_receive_queue.h"
#include "transport/testing/test_random.h"

namespace farcall {

// What the parts of the fabric share; all of it, and all that hangs on it, with `mutex`
// held. What was made stays here until the end, marked as destroyed, so that using it
// afterwards is a violation and not a crash.
struct FakeWorld {
  explicit FakeWorld(FakeFabricOptions fabric_options);
  ~FakeWorld();

  // The process's one.
  static FakeWorld& Current();

  void Violation(std::string what);
  FakeDevice& Device(absl::string_view name);
  FakeContext& Open(FakeDevice& device, bool of_cm);
  // librdmacm's context of a plugged-in device; opened once.
  FakeContext& CmContext(FakeDevice& device);
  FakeContext* FindCmContext(const FakeDevice& device) const;  // null: it has none open
  // Lets librdmacm drop the contexts of devices that are gone and unused, which it does only
  // while there is a device.
  void DropDeadContexts();
  bool RemovalPending(const FakeDevice& device) const;

  // Whether messages from one to the other get lost now.
  bool Lost(const FakeDevice& from, const FakeDevice& to) const {
    return from.removed || to.removed || !from.port_active || !to.port_active ||
           (!cuts.empty() && IsCut(from, to));
  }
  // They are, without any event.
  bool Silent(const FakeDevice& from, const FakeDevice& to) const;
  void OnPathsChanged();
  void RemoveDevice(FakeDevice& device, bool flush);

  bool Step();
  std::vector<std::string> Leaks() const;

  struct CutPath {
    const FakeDevice* a;
    const FakeDevice* b;
    bool silent;
    bool Joins(const FakeDevice& from, const FakeDevice& to) const {
      return (a == &from && b == &to) || (a == &to && b == &from);
    }
  };

  const FakeFabricOptions options;
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
  std::vector<std::unique_ptr<FakeCompChannel>> channels;
  std::vector<std::unique_ptr<FakeCq>> completion_queues;
  std::vector<std::unique_ptr<FakeSrq>> receive_queues;
  std::vector<std::unique_ptr<FakeQp>> queue_pairs;
  // Of them, those that are not destroyed.
  std::vector<FakeQp*> live_queue_pairs;
  FakeCm cm;

 private:
  bool IsCut(const FakeDevice& from, const FakeDevice& to) const;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_WORLD_H_
