// SPDX-License-Identifier: Apache-2.0
//
// rdma_*(3).

#include <algorithm>

#include "transport/rdma/testing/fabric/fake_api.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

Address FromSockaddr(const sockaddr* from) {
  if (from == nullptr) return {};
  SocketAddress address;
  address.length = from->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  memcpy(&address.storage, from, address.length);
  return FromSocketAddress(address);
}

// A call about an id: its errno as rdma_*(3) give it.
template <typename Run>
int OnId(const char* name, rdma_cm_id* id, Run run) {
  FakeCall call(name);
  if (call.planned != 0) return call.MinusOne(call.planned);
  FakeId& fake = *static_cast<FakeId*>(id);
  if (fake.destroyed) {
    call.world.Violation(std::string(name) + " of an id that is destroyed");
    return call.MinusOne(EINVAL);
  }
  const int error = run(call.world, fake);
  call.world.cm.Pump();
  return call.MinusOne(error);
}

rdma_event_channel* CreateEventChannel() {
  FakeCall call("rdma_create_event_channel");
  if (call.planned != 0) return call.Null(call.planned);
  return &call.world.cm.AddChannel();
}

void DestroyEventChannel(rdma_event_channel* channel) {
  FakeCall call("rdma_destroy_event_channel", kGivesBack);
  FakeCmChannel& fake = *static_cast<FakeCmChannel*>(channel);
  if (fake.destroyed) return call.world.Violation("rdma_destroy_event_channel twice");
  if (fake.ids > 0) call.world.Violation("rdma_destroy_event_channel with ids");
  fake.destroyed = true;
  fake.events.Close();
}

int CreateId(rdma_event_channel* channel, rdma_cm_id** id, void* user, rdma_port_space space) {
  FakeCall call("rdma_create_id");
  if (call.planned != 0) return call.MinusOne(call.planned);
  // Without a channel all calls would block.
  if (channel == nullptr || space != RDMA_PS_TCP) return call.MinusOne(EINVAL);
  *id = &call.world.cm.AddId(*static_cast<FakeCmChannel*>(channel), user);
  return 0;
}

int DestroyId(rdma_cm_id* id) {
  FakeCall call("rdma_destroy_id", kGivesBack);
  if (call.planned != 0) return call.MinusOne(call.planned);
  FakeId& fake = *static_cast<FakeId*>(id);
  if (fake.destroyed) {
    call.world.Violation("rdma_destroy_id twice");
    return call.MinusOne(EINVAL);
  }
  call.world.cm.Destroy(fake);
  call.world.cm.Pump();
  return 0;
}

int BindAddr(rdma_cm_id* id, sockaddr* address) {
  return OnId("rdma_bind_addr", id, [&](FakeWorld& world, FakeId& fake) {
    return world.cm.Bind(fake, FromSockaddr(address));
  });
}

int ResolveAddr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int) {
  return OnId("rdma_resolve_addr", id, [&](FakeWorld& world, FakeId& fake) {
    return world.cm.ResolveAddress(fake, FromSockaddr(source), FromSockaddr(destination));
  });
}

int ResolveRoute(rdma_cm_id* id, int) {
  return OnId("rdma_resolve_route", id,
              [](FakeWorld& world, FakeId& fake) { return world.cm.ResolveRoute(fake); });
}

int CreateQpOfId(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* init) {
  return OnId("rdma_create_qp", id,
              [&](FakeWorld& world, FakeId& fake) { return world.cm.CreateQp(fake, pd, *init); });
}

void DestroyQpOfId(rdma_cm_id* id) {
  FakeCall call("rdma_destroy_qp", kGivesBack);
  FakeId& fake = *static_cast<FakeId*>(id);
  if (fake.destroyed || fake.qp == nullptr) {
    return call.world.Violation("rdma_destroy_qp of an id that has none");
  }
  call.world.cm.DestroyQp(fake);
  call.world.cm.Pump();
}

int Connect(rdma_cm_id* id, rdma_conn_param* param) {
  return OnId("rdma_connect", id, [&](FakeWorld& world, FakeId& fake) {
    return world.cm.Connect(fake, param == nullptr ? rdma_conn_param{} : *param);
  });
}

int Listen(rdma_cm_id* id, int backlog) {
  return OnId("rdma_listen", id,
              [&](FakeWorld& world, FakeId& fake) { return world.cm.Listen(fake, backlog); });
}

int Accept(rdma_cm_id* id, rdma_conn_param* param) {
  return OnId("rdma_accept", id, [&](FakeWorld& world, FakeId& fake) {
    return world.cm.Accept(fake, param == nullptr ? rdma_conn_param{} : *param);
  });
}

int Reject(rdma_cm_id* id, const void* data, uint8_t bytes) {
  return OnId("rdma_reject", id,
              [&](FakeWorld& world, FakeId& fake) { return world.cm.Reject(fake, data, bytes); });
}

int Disconnect(rdma_cm_id* id) {
  return OnId("rdma_disconnect", id,
              [](FakeWorld& world, FakeId& fake) { return world.cm.Disconnect(fake); });
}

int GetCmEvent(rdma_event_channel* channel, rdma_cm_event** event) {
  FakeCall call("rdma_get_cm_event");
  if (call.planned != 0) return call.MinusOne(call.planned);
  FakeCmChannel& fake = *static_cast<FakeCmChannel*>(channel);
  if (fake.destroyed) {
    call.world.Violation("rdma_get_cm_event of a channel that is destroyed");
    return call.MinusOne(EBADF);
  }
  if (!fake.events.Wait(call.lock)) return -1;
  *event = call.world.cm.Take(fake);
  return 0;
}

int AckCmEvent(rdma_cm_event* event) {
  FakeCall call("rdma_ack_cm_event", kGivesBack);
  if (call.planned != 0) return call.MinusOne(call.planned);
  if (call.world.cm.Acknowledge(event)) return 0;
  call.world.Violation("rdma_ack_cm_event of an event that is not taken");
  return call.MinusOne(EINVAL);
}

const char* EventStr(rdma_cm_event_type type) {
  static constexpr const char* kNames[] = {
      "RDMA_CM_EVENT_ADDR_RESOLVED",   "RDMA_CM_EVENT_ADDR_ERROR",
      "RDMA_CM_EVENT_ROUTE_RESOLVED",  "RDMA_CM_EVENT_ROUTE_ERROR",
      "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR",   "RDMA_CM_EVENT_UNREACHABLE",
      "RDMA_CM_EVENT_REJECTED",        "RDMA_CM_EVENT_ESTABLISHED",
      "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_MULTICAST_JOIN",  "RDMA_CM_EVENT_MULTICAST_ERROR",
      "RDMA_CM_EVENT_ADDR_CHANGE",     "RDMA_CM_EVENT_TIMEWAIT_EXIT",
  };
  const size_t index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "UNKNOWN EVENT";
}

int SetOption(rdma_cm_id* id, int level, int option, void* value, size_t bytes) {
  return OnId("rdma_set_option", id, [&](FakeWorld& world, FakeId& fake) {
    return world.cm.SetOption(fake, level, option, value, bytes);
  });
}

ibv_context** GetDevices(int* count) {
  FakeCall call("rdma_get_devices");
  if (call.planned != 0) return call.Null(call.planned);
  FakeWorld& world = call.world;
  world.DropDeadContexts();
  auto** const list = new ibv_context* [world.devices.size() + 1] {};
  int found = 0;
  for (const auto& device : world.devices) {
    // What is open already is shown, whatever the process may open.
    const bool shown = device->options.permitted || world.FindCmContext(*device) != nullptr;
    if (!device->removed && shown) list[found++] = &world.CmContext(*device);
  }
  if (count != nullptr) *count = found;
  if (found == 0) {
    delete[] list;
    return call.Null(ENODEV);
  }
  ++world.lists;
  return list;
}

void FreeDevices(ibv_context** list) {
  FakeCall call("rdma_free_devices", kGivesBack);
  if (--call.world.lists < 0) call.world.Violation("a list of devices was freed twice");
  delete[] list;
}

int ReleaseContext(ibv_context* context) {
  FakeCall call("release_context");
  if (call.planned != 0) return call.planned;
  FakeContext& fake = *Fake(context);
  if (!fake.librdmacm || fake.closed || !fake.dead) {
    call.world.Violation("release_context while the device is there");
  }
  if (fake.objects > 0) call.world.Violation("release_context with objects left");
  fake.released = true;
  fake.async.Close();
  return 0;
}

__be16 GetSrcPort(rdma_cm_id* id) {
  const sockaddr_storage& source = id->route.addr.src_storage;
  if (source.ss_family == AF_INET6) return reinterpret_cast<const sockaddr_in6&>(source).sin6_port;
  return reinterpret_cast<const sockaddr_in&>(source).sin_port;
}

}  // namespace

VerbsApi::Rdma FakeRdmaCm() {
  VerbsApi::Rdma rdma{};
  rdma.create_event_channel = CreateEventChannel;
  rdma.destroy_event_channel = DestroyEventChannel;
  rdma.create_id = CreateId;
  rdma.destroy_id = DestroyId;
  rdma.bind_addr = BindAddr;
  rdma.resolve_addr = ResolveAddr;
  rdma.resolve_route = ResolveRoute;
  rdma.create_qp = CreateQpOfId;
  rdma.destroy_qp = DestroyQpOfId;
  rdma.connect = Connect;
  rdma.listen = Listen;
  rdma.accept = Accept;
  rdma.reject = Reject;
  rdma.disconnect = Disconnect;
  rdma.get_cm_event = GetCmEvent;
  rdma.ack_cm_event = AckCmEvent;
  rdma.event_str = EventStr;
  rdma.set_option = SetOption;
  rdma.get_devices = GetDevices;
  rdma.free_devices = FreeDevices;
  rdma.get_src_port = GetSrcPort;
  rdma.release_context = ReleaseContext;
  return rdma;
}

}  // namespace farcall
