// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_WORLD_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "transport/rdma/testing/fabric/cm/fake_cm.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_completion_queue.h"
#include "transport/rdma/testing/fabric/queues/fake_qp_table.h"
#include "transport/rdma/testing/fabric/queues/fake_receive_queue.h"

namespace farcall {

// The whole fabric.
struct FakeWorld : FakeHost {
  explicit FakeWorld(FakeFabricOptions fabric_options);
  ~FakeWorld();

  // The process's one.
  static FakeWorld& Current();

  // Lets librdmacm drop the contexts of devices that are gone and unused, which it does only
  // while there is a device.
  void DropDeadContexts();
  void OnPathsChanged();
  void RemoveDevice(FakeDevice& device, bool flush);

  bool Step();
  std::vector<std::string> Leaks() const;

  std::vector<std::unique_ptr<FakeCompChannel>> channels;
  std::vector<std::unique_ptr<FakeCq>> completion_queues;
  std::vector<std::unique_ptr<FakeSrq>> receive_queues;
  FakeQpTable pairs;
  FakeCm cm;
};

// In which the context was opened.
inline FakeWorld& WorldOf(FakeContext& context) { return static_cast<FakeWorld&>(context.host); }

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_WORLD_H_
