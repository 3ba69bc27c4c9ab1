// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_DEVICE_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_DEVICE_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "transport/address.h"
#include "transport/rdma/testing/fabric/device/fake_fd_queue.h"
#include "transport/rdma/testing/fabric/device/fake_options.h"

namespace farcall {

struct FakeDevice;
struct FakeHost;

// Bytes of one message at most.
constexpr uint32_t kFakeMaxMessage = uint32_t{1} << 30;

struct FakeIbvDevice : ibv_device {
  FakeDevice* owner = nullptr;
};

// A device of this host, plugged in or not. With the fabric's mutex held.
struct FakeDevice {
  FakeDevice(size_t device_index, const FakeDeviceOptions& device_options);

  bool iwarp() const { return options.link == FakeLink::kIwarp; }
  bool usable() const { return !removed && port_active; }
  // Whether this address (the port does not matter) is one of its own.
  bool Has(const Address& address) const;
  // Its first address of that family; kNone: it has none.
  Address AddressOf(AddressFamily family) const;

  ibv_device_attr Attributes() const;
  ibv_port_attr PortAttributes() const;
  std::vector<ibv_gid_entry> Gids() const;

  struct SendFault {
    int left;
    ibv_wc_status status;
    uint32_t vendor_error;
    bool delivered;
  };
  struct ReceiveFault {
    int left;
    ibv_wc_status status;
  };

  // libibverbs lists it anew, as another ibv_device.
  void ListAnew();
  FakeIbvDevice& handle() { return handles.back(); }

  const size_t index;
  FakeDeviceOptions options;         // `permitted` and `memlock` may change
  std::list<FakeIbvDevice> handles;  // the last one is listed; others have open contexts
  std::vector<Address> addresses;
  bool port_active;
  uint32_t first_gid = 0;  // of its GID table, the first entry in use
  bool keeps_receives = false;
  bool removed = false;
  bool flush_when_removed = false;
  FakeCounters counters;
  std::vector<SendFault> send_faults;
  std::vector<ReceiveFault> receive_faults;
};

// An open device. Of librdmacm's, ids on a device share one.
struct FakeContext : ibv_context {
  FakeContext(FakeHost& fake_host, FakeDevice& fake_device, bool of_cm);

  FakeHost& host;
  FakeDevice& owner;
  const bool librdmacm;
  bool closed = false;
  bool dead = false;      // the device was removed: all but destroying fails with EIO
  bool released = false;  // by release_context: nothing of it is the kernel's
  bool replaced = false;  // librdmacm opens another one for new ids
  int objects = 0;        // domains, completion queues and channels made with it
  FakeFdQueue<ibv_async_event> async;
};

// Of `context`, or null.
inline FakeContext* Fake(ibv_context* context) { return static_cast<FakeContext*>(context); }

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_DEVICE_H_
