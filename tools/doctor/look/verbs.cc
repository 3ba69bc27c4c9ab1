// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/look/verbs.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/doctor/look/host.h"
#include "tools/node/sys_files.h"
#include "transport/address.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/rdma_options.h"
#include "transport/sockaddr.h"

namespace farcall::doctor {
namespace {

// libibverbs looks for providers in libibverbs/ beside itself, and where they are files of
// libraries of their own, beside itself.
std::vector<std::string> ProvidersBeside(const std::string& library) {
  const node::SysFiles files(library.substr(0, library.rfind('/')));
  std::vector<std::string> names = files.List("libibverbs");
  std::erase_if(names, [](const auto& name) { return !absl::StrContains(name, "-rdmav"); });
  return names;
}

// Where the loaded library lies; "": it is not loaded.
std::string PathOf(const char* library) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return "";
  link_map* map = nullptr;
  std::string path;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0) path = map->l_name;
  dlclose(handle);
  return path;
}

// Also tells which device an address is on: by the name.
struct InlineLimit {
  std::string device;
  std::optional<uint32_t> bytes;
};

std::optional<uint32_t> AskQueuePair(const VerbsApi& api, rdma_cm_id* id) {
  auto pd = AllocateDomain(api, id->verbs);
  auto cq = CreateCompletionQueue(api, id->verbs, 16, nullptr, nullptr);
  if (!pd.ok() || !cq.ok()) return std::nullopt;
  for (const uint32_t bytes : {RdmaOptions{}.max_inline, uint32_t{128}, uint32_t{64}, 0u}) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = cq->get();
    attributes.recv_cq = cq->get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = 4,
                      .max_recv_wr = 4,
                      .max_send_sge = 2,
                      .max_recv_sge = 1,
                      .max_inline_data = bytes};
    if (api.rdma.create_qp(id, pd->get(), &attributes) != 0) continue;
    const uint32_t got = std::min(attributes.cap.max_inline_data, RdmaOptions{}.max_inline);
    api.rdma.destroy_qp(id);
    return got;
  }
  return std::nullopt;
}

std::optional<InlineLimit> InlineAt(const VerbsApi& api, rdma_event_channel* channel,
                                    const OwnAddress& own) {
  const auto address = Address::ParseIp(own.ip);
  if (!address.ok()) return std::nullopt;
  auto to = ToSocketAddress(*address);
  auto id = CreateCmId(api, channel, nullptr);
  if (!to.ok() || !id.ok()) return std::nullopt;
  if (api.rdma.bind_addr(id->get(), to->get()) != 0 || (*id)->verbs == nullptr) return std::nullopt;
  return InlineLimit{api.ibv.get_device_name((*id)->verbs->device), AskQueuePair(api, id->get())};
}

void AskInline(const VerbsApi& api, const std::vector<OwnAddress>& own,
               std::vector<VerbsDevice>& devices) {
  auto channel = CreateEventChannel(api);
  if (!channel.ok()) return;
  for (const OwnAddress& each : own) {
    const auto limit = InlineAt(api, channel->get(), each);
    if (!limit.has_value()) continue;
    for (VerbsDevice& device : devices) {
      if (device.name == limit->device && !device.max_inline) device.max_inline = limit->bytes;
    }
  }
}

VerbsDevice Ask(const VerbsApi& api, ibv_device* listed) {
  VerbsDevice device;
  device.name = api.ibv.get_device_name(listed);
  ibv_context* const context = api.ibv.open_device(listed);
  if (context == nullptr) {
    device.error = std::string(ErrnoStatus(errno).message());
    return device;
  }
  ibv_device_attr caps{};
  if (const int error = api.ibv.query_device(context, &caps); error != 0) {
    device.error = absl::StrCat("ibv_query_device: ", ErrnoStatus(error).message());
  }
  device.max_srq = caps.max_srq;
  device.windows = (caps.device_cap_flags &
                    (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)) != 0;
  device.max_qp = caps.max_qp;
  device.max_cqe = caps.max_cqe;
  for (int port = 1; port <= caps.phys_port_cnt; ++port) {
    ibv_port_attr attr{};
    if (api.ibv.query_port(context, static_cast<uint8_t>(port), &attr) != 0) continue;
    // IBV_MTU_256 is 1, and each further one is the double.
    if (attr.active_mtu >= IBV_MTU_256 && attr.active_mtu <= IBV_MTU_4096) {
      device.mtu[static_cast<uint32_t>(port)] = 128u << attr.active_mtu;
    }
  }
  static_cast<void>(api.ibv.close_device(context));
  device.relaxed_ordering = ReadRelaxedOrdering(device.name);
  return device;
}

}  // namespace

LibraryFacts ReadLibraries(const absl::Status& loaded) {
  LibraryFacts facts;
  if (!loaded.ok()) facts.error = std::string(loaded.message());
  if (const std::string path = PathOf("libibverbs.so.1"); !path.empty()) {
    facts.providers = ProvidersBeside(path);
  }
  return facts;
}

std::string ChannelError(const VerbsApi& api) {
  const auto channel = CreateEventChannel(api);
  return channel.ok() ? "" : std::string(channel.status().message());
}

std::vector<VerbsDevice> ReadVerbsDevices(const VerbsApi& api, const std::vector<OwnAddress>& own) {
  std::vector<VerbsDevice> devices;
  int count = 0;
  ibv_device** const list = api.ibv.get_device_list(&count);
  if (list == nullptr) return devices;
  for (int i = 0; i < count; ++i) devices.push_back(Ask(api, list[i]));
  api.ibv.free_device_list(list);
  AskInline(api, own, devices);
  return devices;
}

ForkSafety ReadForkSafety() {
  void* const handle = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return ForkSafety::kUnknown;
  const auto ask =
      reinterpret_cast<ibv_fork_status (*)()>(dlsym(handle, "ibv_is_fork_initialized"));
  ForkSafety safety = ForkSafety::kUnknown;
  if (ask != nullptr) {
    switch (ask()) {
      case IBV_FORK_DISABLED:
        safety = ForkSafety::kDisabled;
        break;
      case IBV_FORK_ENABLED:
        safety = ForkSafety::kEnabled;
        break;
      case IBV_FORK_UNNEEDED:
        safety = ForkSafety::kUnneeded;
        break;
    }
  }
  dlclose(handle);
  return safety;
}

}  // namespace farcall::doctor
