// SPDX-License-Identifier: Apache-2.0
//
// Addresses and ports of ids, and the ways between them.

#include <errno.h>

#include <algorithm>
#include <array>

#include "transport/base/check.h"
#include "transport/rdma/testing/fabric/cm/fake_cm.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

bool Wildcard(const Address& address) { return address.ip() == std::array<uint8_t, 16>{}; }

Address WithPort(const Address& address, uint16_t port) {
  const auto& ip = address.ip();
  if (address.family() == AddressFamily::kIpv6) return Address::Ipv6(ip, port, address.scope_id());
  return Address::Ipv4({ip[0], ip[1], ip[2], ip[3]}, port);
}

Address Any(AddressFamily family, uint16_t port) {
  return family == AddressFamily::kIpv6 ? Address::Ipv6({}, port) : Address::Ipv4({}, port);
}

void Store(const Address& address, sockaddr_storage& to) {
  const auto socket = ToSocketAddress(address);
  Check(socket.ok(), "an id's address is IPv4 or IPv6");
  to = socket->storage;
}

// Whether a listener or another bound id at `own` also stands for `address`.
bool Covers(const FakeId& id, const Address& own, const Address& address) {
  if (own.family() == address.family()) return Wildcard(own) || own.ip() == address.ip();
  const bool dual = own.family() == AddressFamily::kIpv6 && Wildcard(own) && id.af_only != 1;
  return dual && address.family() == AddressFamily::kIpv4;
}

}  // namespace

FakeDevice* FakeCm::DeviceAt(const Address& address) const {
  for (const auto& device : host_.devices) {
    if (device->Has(address)) return device.get();
  }
  return nullptr;
}

bool FakeCm::PortTaken(const FakeId& id, const Address& address) const {
  return std::any_of(ids_.begin(), ids_.end(), [&](const auto& other) {
    if (other.get() == &id || other->destroyed || other->from_request ||
        other->state == FakeId::State::kIdle) {
      return false;
    }
    const Address taken = other->source();
    if (taken.port() != address.port()) return false;
    if (id.reuse_address == 1 && other->reuse_address == 1 &&
        other->state != FakeId::State::kListening) {
      return false;
    }
    return Covers(*other, taken, address) || Covers(id, address, taken);
  });
}

int FakeCm::Bind(FakeId& id, const Address& address) {
  if (id.state != FakeId::State::kIdle) return EINVAL;
  if (address.family() != AddressFamily::kIpv4 && address.family() != AddressFamily::kIpv6) {
    return EAFNOSUPPORT;
  }
  FakeDevice* device = nullptr;
  if (!Wildcard(address)) {
    device = DeviceAt(address);
    if (device == nullptr || device->removed) return ENODEV;
  }
  Address bound = address;
  if (address.port() == 0) {
    for (int tries = 0; tries < 28'000; ++tries) {
      bound = WithPort(address, next_port_);
      next_port_ = next_port_ >= 60'999 ? 32'768 : static_cast<uint16_t>(next_port_ + 1);
      if (!PortTaken(id, bound)) break;
    }
  }
  if (PortTaken(id, bound)) return EADDRINUSE;
  Store(bound, id.route.addr.src_storage);
  id.state = FakeId::State::kBound;
  if (device == nullptr) return 0;
  id.device = device;
  id.verbs = &host_.CmContext(*device);
  id.port_num = 1;
  return 0;
}

int FakeCm::Listen(FakeId& id, int backlog) {
  if (id.state == FakeId::State::kIdle) {
    if (const int error = Bind(id, Any(AddressFamily::kIpv4, 0)); error != 0) return error;
  }
  if (id.state != FakeId::State::kBound) return EINVAL;
  if (id.removed) return ENODEV;
  // With RDMA_OPTION_ID_REUSEADDR two may be bound, but one listens.
  const bool taken = std::any_of(ids_.begin(), ids_.end(), [&](const auto& other) {
    return other.get() != &id && !other->destroyed && other->state == FakeId::State::kListening &&
           other->source().port() == id.source().port() &&
           (Covers(*other, other->source(), id.source()) ||
            Covers(id, id.source(), other->source()));
  });
  if (taken) return EADDRINUSE;
  constexpr int kMaxBacklog = 1024;
  id.backlog = backlog > 0 && backlog < kMaxBacklog ? backlog : kMaxBacklog;
  id.state = FakeId::State::kListening;
  return 0;
}

FakeId* FakeCm::Listener(const FakeId& active) const {
  const Address to = active.destination();
  FakeId* found = nullptr;
  for (const auto& id : ids_) {
    if (id->destroyed || id->removed || id->state != FakeId::State::kListening ||
        id->source().port() != to.port() || !Covers(*id, id->source(), to)) {
      continue;
    }
    if (found == nullptr || !Wildcard(id->source())) found = id.get();
  }
  return found;
}

FakeDevice* FakeCm::SourceDevice(const Address& source, FakeDevice& destination,
                                 AddressFamily family) const {
  if (!Wildcard(source)) return DeviceAt(source);
  for (const auto& device : host_.devices) {
    if (device.get() != &destination && device->usable() &&
        device->options.link == destination.options.link &&
        device->AddressOf(family).family() == family) {
      return device.get();
    }
  }
  return &destination;
}

int FakeCm::ResolveAddress(FakeId& id, const Address& source, const Address& destination) {
  const AddressFamily family = destination.family();
  if (family != AddressFamily::kIpv4 && family != AddressFamily::kIpv6) return EAFNOSUPPORT;
  if (id.state == FakeId::State::kIdle) {
    const bool given = source.family() != AddressFamily::kNone;
    if (const int error = Bind(id, given ? source : Any(family, 0)); error != 0) return error;
  }
  if (id.state != FakeId::State::kBound) return EINVAL;
  if (id.removed) return ENODEV;
  if (id.source().family() != family) return EINVAL;
  Store(destination, id.route.addr.dst_storage);
  id.state = FakeId::State::kResolvingAddress;
  schedule.Add(id, 0, [this, &id] { OnAddress(id); });
  return 0;
}

void FakeCm::OnAddress(FakeId& id) {
  if (id.destroyed || id.removed) return;
  const Address to = id.destination();
  FakeDevice* const target = DeviceAt(to);
  FakeDevice* const own =
      target != nullptr ? SourceDevice(id.source(), *target, to.family()) : nullptr;
  int status = 0;
  if (fail_address != 0) {
    status = std::exchange(fail_address, 0);
  } else if (target == nullptr || !target->port_active) {
    status = -ETIMEDOUT;  // no host answers ARP
  } else if (own == nullptr || !own->usable()) {
    status = -ENODEV;
  }
  if (status != 0) {
    id.state = FakeId::State::kBound;
    Report(id, RDMA_CM_EVENT_ADDR_ERROR, status);
    return;
  }
  id.device = own;
  id.state = FakeId::State::kAddressResolved;
  Report(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

void FakeCm::TakeAddress(FakeId& id) {
  if (id.device == nullptr || id.device->removed) return;
  const Address own = id.device->AddressOf(id.destination().family());
  if (Wildcard(id.source())) Store(WithPort(own, id.source().port()), id.route.addr.src_storage);
  id.verbs = &host_.CmContext(*id.device);
  id.port_num = 1;
}

int FakeCm::ResolveRoute(FakeId& id) {
  if (id.removed) return ENODEV;
  if (id.state != FakeId::State::kAddressResolved) return EINVAL;
  id.state = FakeId::State::kResolvingRoute;
  schedule.Add(id, 0, [this, &id] {
    if (id.destroyed || id.removed) return;
    const int status = std::exchange(fail_route, 0);
    id.state = status == 0 ? FakeId::State::kRouteResolved : FakeId::State::kAddressResolved;
    Report(id, status == 0 ? RDMA_CM_EVENT_ROUTE_RESOLVED : RDMA_CM_EVENT_ROUTE_ERROR, status);
  });
  return 0;
}

void FakeCm::SetAddresses(FakeId& passive, const FakeId& active) {
  passive.route.addr.src_storage = active.route.addr.dst_storage;
  passive.route.addr.dst_storage = active.route.addr.src_storage;
}

}  // namespace farcall
