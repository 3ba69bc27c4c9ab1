// SPDX-License-Identifier: Apache-2.0
//
// ibv_*(3) for devices, protection domains and regions.

#include <string.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/rdma/testing/fabric/fake_api.h"

namespace farcall {
namespace {

ibv_device** GetDeviceList(int* count) {
  FakeCall call("ibv_get_device_list");
  if (call.planned != 0) return call.Null(call.planned);
  auto** const list = new ibv_device* [call.world.devices.size() + 1] {};
  int found = 0;
  for (const auto& device : call.world.devices) {
    if (!device->removed) list[found++] = &device->handle();
  }
  ++call.world.lists;
  if (count != nullptr) *count = found;
  return list;
}

void FreeDeviceList(ibv_device** list) {
  FakeCall call("ibv_free_device_list", kGivesBack);
  if (--call.world.lists < 0) call.world.Violation("a list of devices was freed twice");
  delete[] list;
}

const char* GetDeviceName(ibv_device* device) { return device->name; }

ibv_context* OpenDevice(ibv_device* device) {
  FakeCall call("ibv_open_device");
  if (call.planned != 0) return call.Null(call.planned);
  FakeDevice& fake = *static_cast<FakeIbvDevice*>(device)->owner;
  if (fake.removed) return call.Null(ENODEV);
  if (!fake.options.permitted) return call.Null(EACCES);
  return &call.world.Open(fake, /*of_cm=*/false);
}

int CloseDevice(ibv_context* context) {
  FakeCall call("ibv_close_device", kGivesBack);
  if (call.planned != 0) return call.MinusOne(call.planned);
  FakeContext& fake = *Fake(context);
  if (fake.closed || fake.librdmacm) call.world.Violation("ibv_close_device of what is not open");
  if (fake.objects > 0) call.world.Violation("ibv_close_device with objects left");
  fake.closed = true;
  fake.async.Close();
  return 0;
}

int QueryDevice(ibv_context* context, ibv_device_attr* attr) {
  FakeCall call("ibv_query_device");
  if (call.planned != 0) return call.planned;
  if (Fake(context)->dead) return EIO;
  *attr = Fake(context)->owner.Attributes();
  return 0;
}

int QueryPort(ibv_context* context, uint8_t port, ibv_port_attr* attr) {
  FakeCall call("ibv_query_port");
  if (call.planned != 0) return call.planned;
  if (Fake(context)->dead) return EIO;
  if (port != 1) return EINVAL;
  *attr = Fake(context)->owner.PortAttributes();
  return 0;
}

ssize_t QueryGidTable(ibv_context* context, ibv_gid_entry* entries, size_t max_entries) {
  FakeCall call("ibv_query_gid_table");
  if (call.planned != 0) return -call.planned;
  if (Fake(context)->dead) return -EIO;
  const std::vector<ibv_gid_entry> gids = Fake(context)->owner.Gids();
  if (gids.size() > max_entries) return -EINVAL;
  std::copy(gids.begin(), gids.end(), entries);
  return static_cast<ssize_t>(gids.size());
}

ibv_pd* AllocPd(ibv_context* context) {
  FakeCall call("ibv_alloc_pd");
  if (call.planned != 0) return call.Null(call.planned);
  if (Fake(context)->dead) return call.Null(EIO);
  return &call.world.memory.AddDomain(*Fake(context));
}

int DeallocPd(ibv_pd* pd) {
  FakeCall call("ibv_dealloc_pd", kGivesBack);
  if (call.planned != 0) return call.planned;
  FakePd& domain = *static_cast<FakePd*>(pd);
  if (domain.destroyed) {
    call.world.Violation("ibv_dealloc_pd twice");
    return EINVAL;
  }
  if (domain.users > 0) return EBUSY;
  domain.destroyed = true;
  --domain.owner.objects;
  return 0;
}

ibv_mr* RegMr(ibv_pd* pd, void* address, size_t length, unsigned int access) {
  FakeCall call("ibv_reg_mr");
  if (call.planned != 0) return call.Null(call.planned);
  FakePd& domain = *static_cast<FakePd*>(pd);
  if (domain.owner.dead) return call.Null(EIO);
  constexpr unsigned int kRemoteChanges = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if (length == 0 || ((access & kRemoteChanges) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)) {
    return call.Null(EINVAL);
  }
  FakeDevice& device = domain.owner.owner;
  if (device.options.refuses_mw_bind && (access & IBV_ACCESS_MW_BIND) != 0) {
    return call.Null(EOPNOTSUPP);
  }
  if (length > device.options.memlock ||
      device.counters.registered_bytes > device.options.memlock - length) {
    return call.Null(ENOMEM);
  }
  ++device.counters.registrations;
  if ((access & (kRemoteChanges | IBV_ACCESS_REMOTE_READ)) != 0) ++device.counters.remote_regions;
  device.counters.registered_bytes += length;
  const uint32_t tag = static_cast<uint32_t>(call.world.random.Next());
  return &call.world.memory.Register(domain, address, length, access, tag);
}

int DeregMr(ibv_mr* mr) {
  FakeCall call("ibv_dereg_mr", kGivesBack);
  if (call.planned != 0) return call.planned;
  FakeMr& region = *static_cast<FakeMr*>(mr);
  if (region.destroyed) {
    call.world.Violation("ibv_dereg_mr twice");
    return EINVAL;
  }
  if (call.world.memory.HasWindowOn(region)) {
    call.world.Violation("ibv_dereg_mr of a region on which a window is bound");
    return EBUSY;
  }
  const std::vector<FakeQp*>& live = call.world.pairs.live();
  const bool posted =
      std::any_of(live.begin(), live.end(), [&](const FakeQp* qp) { return qp->Holds(region); }) ||
      std::any_of(
          call.world.receive_queues.begin(), call.world.receive_queues.end(), [&](const auto& srq) {
            return !srq->destroyed && !srq->domain.owner.dead && srq->receives.Holds(region);
          });
  if (posted) call.world.Violation("ibv_dereg_mr of a region in which something is posted");
  region.destroyed = true;
  --region.domain.users;
  region.domain.owner.owner.counters.registered_bytes -= region.length;
  return 0;
}

}  // namespace

void FillDevices(VerbsApi::Ibv& ibv) {
  ibv.get_device_list = GetDeviceList;
  ibv.free_device_list = FreeDeviceList;
  ibv.get_device_name = GetDeviceName;
  ibv.open_device = OpenDevice;
  ibv.close_device = CloseDevice;
  ibv.query_device = QueryDevice;
  ibv.query_port = QueryPort;
  ibv.query_gid_table = QueryGidTable;
  ibv.alloc_pd = AllocPd;
  ibv.dealloc_pd = DeallocPd;
  ibv.reg_mr = RegMr;
  ibv.dereg_mr = DeregMr;
}

}  // namespace farcall
