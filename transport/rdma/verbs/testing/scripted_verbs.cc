// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/verbs/testing/scripted_verbs.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "transport/base/check.h"

namespace farcall {
namespace {

ScriptedVerbs* self = nullptr;

// The errno with which `function` is to fail; 0: it is to work.
int Called(const std::string& function) {
  self->calls.push_back(function);
  const auto error = self->errors.find(function);
  return error == self->errors.end() ? 0 : error->second;
}

template <typename T>
T* Make(const char* function) {
  if (const int error = Called(function); error != 0) {
    errno = error;
    return nullptr;
  }
  ++self->live;
  return new T{};
}

// As ibv_* functions tell it. The object goes even if the call is to fail.
template <typename T>
int End(const char* function, T* made) {
  --self->live;
  delete made;
  return Called(function);
}

// As rdma_* functions do.
template <typename T>
int EndId(const char* function, T* made) {
  errno = End(function, made);
  return errno == 0 ? 0 : -1;
}

ScriptedDevice& Of(ibv_context* context) {
  for (const auto& device : self->devices) {
    if (&device->context == context) return *device;
  }
  CheckFailed("the context is a scripted device's", __FILE__, __LINE__, __func__);
}

ibv_mr* RegMr(ibv_pd*, void*, size_t length, unsigned int access) {
  if ((access & IBV_ACCESS_RELAXED_ORDERING) != 0 && !self->relaxed_ordering) {
    errno = EINVAL;
    return nullptr;
  }
  if (self->registered + length > self->memlock) {
    errno = ENOMEM;
    return nullptr;
  }
  auto* const mr = Make<ibv_mr>("ibv_reg_mr");
  if (mr == nullptr) return nullptr;
  mr->length = length;
  self->registered += length;
  self->access.push_back(access);
  mr->lkey = static_cast<uint32_t>(self->access.size());
  return mr;
}

int DeregMr(ibv_mr* mr) {
  self->registered -= mr->length;
  return End("ibv_dereg_mr", mr);
}

ibv_device** GetDeviceList(int* count) {
  if (const auto error = self->errors.find("ibv_get_device_list");
      error != self->errors.end() && error->second != 0) {
    errno = error->second;
    return nullptr;
  }
  auto** const list = new ibv_device*[self->devices.size() + 1]();
  *count = 0;
  for (const auto& device : self->devices) {
    if (!device->unplugged) list[(*count)++] = &device->device;
  }
  return list;
}

ibv_context* OpenDevice(ibv_device* device) {
  for (const auto& each : self->devices) {
    if (&each->device == device && !each->closed_to_us) return &each->context;
  }
  errno = EACCES;
  return nullptr;
}

ibv_context** GetDevices(int* count) {
  *count = 0;
  if (const int error = Called("rdma_get_devices"); error != 0) return nullptr;
  auto** const list = new ibv_context*[self->devices.size() + 1]();
  for (const auto& device : self->devices) {
    if (!device->unplugged && !device->closed_to_us) list[(*count)++] = &device->context;
  }
  ++self->lists;
  return list;
}

void FreeDevices(ibv_context** list) {
  static_cast<void>(Called("rdma_free_devices"));
  --self->lists;
  delete[] list;
}

int QueryDevice(ibv_context* context, ibv_device_attr* attr) {
  *attr = Of(context).attr;
  return Called("ibv_query_device");
}

int QueryPort(ibv_context* context, uint8_t, ibv_port_attr* attr) {
  *attr = Of(context).port;
  return Called("ibv_query_port");
}

ssize_t QueryGids(ibv_context* context, ibv_gid_entry* entries, size_t max_entries) {
  if (const int error = Called("ibv_query_gid_table"); error != 0) return -error;
  const auto& gids = Of(context).gids;
  Check(gids.size() <= max_entries, "there is room for the whole table");
  std::copy(gids.begin(), gids.end(), entries);
  return static_cast<ssize_t>(gids.size());
}

// Channels have a descriptor that fcntl(2) takes.
template <typename T>
T* MakeChannel(const char* function) {
  T* const channel = Make<T>(function);
  if (channel != nullptr) channel->fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  return channel;
}

int CreateId(rdma_event_channel*, rdma_cm_id** id, void* context, rdma_port_space space) {
  *id = Make<rdma_cm_id>("rdma_create_id");
  if (*id == nullptr) return -1;
  (*id)->context = context;
  (*id)->ps = space;
  return 0;
}

int GetCmEvent(rdma_event_channel*, rdma_cm_event** event) {
  *event = Make<rdma_cm_event>("rdma_get_cm_event");
  return *event == nullptr ? -1 : 0;
}

void SetIbv(VerbsApi::Ibv& ibv) {
  ibv.get_device_list = GetDeviceList;
  ibv.free_device_list = [](ibv_device** list) { delete[] list; };
  ibv.get_device_name = [](ibv_device* device) -> const char* { return device->name; };
  ibv.open_device = OpenDevice;
  ibv.close_device = [](ibv_context*) { return 0; };
  ibv.query_device = QueryDevice;
  ibv.query_port = QueryPort;
  ibv.query_gid_table = QueryGids;
  ibv.alloc_pd = [](ibv_context*) { return Make<ibv_pd>("ibv_alloc_pd"); };
  ibv.dealloc_pd = [](ibv_pd* pd) { return End("ibv_dealloc_pd", pd); };
  ibv.reg_mr = RegMr;
  ibv.dereg_mr = DeregMr;
  ibv.create_comp_channel = [](ibv_context*) {
    return MakeChannel<ibv_comp_channel>("ibv_create_comp_channel");
  };
  ibv.destroy_comp_channel = [](ibv_comp_channel* channel) {
    close(channel->fd);
    return End("ibv_destroy_comp_channel", channel);
  };
  ibv.create_cq = [](ibv_context*, int entries, void* context, ibv_comp_channel*, int) {
    auto* const cq = Make<ibv_cq>("ibv_create_cq");
    if (cq != nullptr) cq->cqe = entries, cq->cq_context = context;
    return cq;
  };
  ibv.destroy_cq = [](ibv_cq* cq) { return End("ibv_destroy_cq", cq); };
  ibv.create_srq = [](ibv_pd*, ibv_srq_init_attr*) { return Make<ibv_srq>("ibv_create_srq"); };
  ibv.destroy_srq = [](ibv_srq* srq) { return End("ibv_destroy_srq", srq); };
  ibv.create_qp = [](ibv_pd*, ibv_qp_init_attr*) { return Make<ibv_qp>("ibv_create_qp"); };
  ibv.destroy_qp = [](ibv_qp* queue_pair) { return End("ibv_destroy_qp", queue_pair); };
}

void SetRdma(VerbsApi::Rdma& rdma) {
  rdma.create_event_channel = [] {
    return MakeChannel<rdma_event_channel>("rdma_create_event_channel");
  };
  rdma.destroy_event_channel = [](rdma_event_channel* channel) {
    close(channel->fd);
    static_cast<void>(End("rdma_destroy_event_channel", channel));
  };
  rdma.create_id = CreateId;
  rdma.destroy_qp = [](rdma_cm_id* id) {
    id->qp = nullptr;
    static_cast<void>(Called("rdma_destroy_qp"));
  };
  rdma.destroy_id = [](rdma_cm_id* id) { return EndId("rdma_destroy_id", id); };
  rdma.get_cm_event = GetCmEvent;
  rdma.ack_cm_event = [](rdma_cm_event* event) { return EndId("rdma_ack_cm_event", event); };
  rdma.get_devices = GetDevices;
  rdma.free_devices = FreeDevices;
  rdma.release_context = [](ibv_context*) { return Called("release_context"); };
}

}  // namespace

ScriptedDevice::ScriptedDevice(absl::string_view device_name) {
  device_name.copy(device.name, sizeof(device.name) - 1);
  device.transport_type = IBV_TRANSPORT_IB;
  context.device = &device;
  attr.phys_port_cnt = 1;
  attr.max_srq = 1;
  port.state = IBV_PORT_ACTIVE;
  port.active_mtu = IBV_MTU_4096;
  port.link_layer = IBV_LINK_LAYER_ETHERNET;
  port.gid_tbl_len = 16;
}

void ScriptedDevice::AddGid(absl::string_view ip, uint32_t interface_index) {
  const std::string text(ip);
  ibv_gid_entry entry{};
  entry.gid_index = static_cast<uint32_t>(gids.size());
  entry.port_num = 1;
  entry.gid_type = IBV_GID_TYPE_ROCE_V2;
  entry.ndev_ifindex = interface_index;
  if (inet_pton(AF_INET, text.c_str(), entry.gid.raw + 12) == 1) {
    entry.gid.raw[10] = entry.gid.raw[11] = 0xff;
  } else {
    Check(inet_pton(AF_INET6, text.c_str(), entry.gid.raw) == 1, "a GID is an IP address");
  }
  gids.push_back(entry);
}

ScriptedVerbs::ScriptedVerbs() {
  Check(self == nullptr, "there is one ScriptedVerbs at a time");
  self = this;
  SetIbv(api_.ibv);
  SetRdma(api_.rdma);
}

ScriptedVerbs::~ScriptedVerbs() {
  Check(live == 0, "every object is destroyed");
  Check(lists == 0, "every list of devices is freed");
  self = nullptr;
}

ScriptedDevice& ScriptedVerbs::AddDevice(absl::string_view name) {
  devices.push_back(std::make_unique<ScriptedDevice>(name));
  return *devices.back();
}

}  // namespace farcall
