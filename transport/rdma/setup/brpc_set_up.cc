// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/brpc_set_up.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/choice/port_end.h"
#include "transport/rdma/cm/brpc_endpoint.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/device/local_port.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/setup/offer.h"
#include "transport/rdma/setup/ways.h"
#include "transport/upgrade.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

bool TakesPackets(const LocalPort& port) { return port.port.mtu >= BrpcEndpoint::kMtu; }

absl::Status NoPort(RdmaHost& host) {
  if (host.parts().options.set_up == RdmaSetUp::kRdmaCm) {
    return NotRdma(WhyNotRdma::kNoAddress,
                   "brpc's queue pairs are set up without rdma_cm, and rdma.set_up is rdma_cm");
  }
  return NotRdma(WhyNotRdma::kNoAddress,
                 "no port for brpc's queue pairs: they take a GID, and an MTU of 1024 at least");
}

// The GID says which port, but not of which type it is: the one after the other.
std::optional<LocalPort> PortTo(const BrpcEnd& peer, RdmaHost& host, const EventLoop& loop) {
  struct Kind {
    LinkLayer layer;
    GidType type;
  };
  for (const Kind& kind :
       {Kind{LinkLayer::kRoce, GidType::kRoceV2}, Kind{LinkLayer::kRoce, GidType::kRoceV1},
        Kind{LinkLayer::kInfiniBand, GidType::kInfiniBand}}) {
    UpgradeAddress place;
    place.address = Address::Ipv6(peer.gid, 0);
    place.link_layer = kind.layer;
    place.port = FabricPort{peer.gid, kind.type, peer.lid, BrpcEndpoint::kMtu};
    for (const Way& way : WaysTo(host, loop, {place}, OfferConnectOptions())) {
      if (way.local && TakesPackets(*way.local) && host.WhyNot(way.local->context).ok()) {
        return way.local;
      }
    }
  }
  return std::nullopt;
}

std::optional<LocalPort> PortAt(const Address& local, RdmaHost& host, const EventLoop& loop) {
  std::optional<LocalPort> best;
  double share = 0;
  for (const LocalPort& port : host.Ports()) {
    if (!TakesPackets(port) || !host.WhyNot(port.context).ok()) continue;
    if (NameOf(port.address) == NameOf(local)) return port;
    const auto place =
        Describe(host, loop, {Address::Ipv6(port.port.gid, 0), "", port.link_layer, port.port},
                 {port.context, port.number});
    if (!place || (best && place->share <= share)) continue;
    best = port;
    share = place->share;
  }
  return best;
}

// The port for a queue pair to brpc. Who knows the peer takes the best way to it, as for set-up
// over TCP (WaysTo); who does not, the port with the address of the TCP connection, else the one of
// which a connection more has the most. After the host was ready. An error is a reason
// (why_not_rdma.h).
absl::StatusOr<LocalPort> ChooseBrpcPort(RdmaHost& host, const EventLoop& loop,
                                         const BrpcWish& wish) {
  const std::optional<LocalPort> port =
      wish.peer ? PortTo(*wish.peer, host, loop) : PortAt(wish.local, host, loop);
  if (port) return *port;
  return NoPort(host);
}

}  // namespace

std::shared_ptr<BrpcSetUp> BrpcSetUp::Start(RdmaHost& host, EventLoop& control, EventLoop& loop,
                                            const BrpcWish& wish,
                                            UpgradeTransport::OnBrpcEnd made) {
  Check(loop.held(), "who asks holds the loop");
  std::shared_ptr<BrpcSetUp> set_up(new BrpcSetUp(host, control, loop, wish, std::move(made)));
  control.Post([set_up] { set_up->Begin(); });
  return set_up;
}

BrpcSetUp::BrpcSetUp(RdmaHost& host, EventLoop& control, EventLoop& loop, const BrpcWish& wish,
                     UpgradeTransport::OnBrpcEnd made)
    : host_(host), control_(control), loop_(loop), wish_(wish), made_(std::move(made)) {}

BrpcSetUp::~BrpcSetUp() {
  Check(end_ == nullptr && pair_ == nullptr, "a set-up ends before it dies");
}

void BrpcSetUp::Join(const BrpcEnd& peer, BrpcPair::OnJoin done) {
  joined_ = std::move(done);
  control_.Post([self = shared_from_this(), peer] {
    const absl::Status joined = self->error_.ok() ? self->JoinNow(peer) : self->error_;
    if (!joined.ok()) return self->Fail(joined);
    self->loop_.Post([self] {
      if (self->joined_) std::exchange(self->joined_, nullptr)(absl::OkStatus());
    });
  });
}

void BrpcSetUp::Open(Transport::OnConnect done) {
  opened_ = std::move(done);
  control_.Post([self = shared_from_this()] {
    if (!self->error_.ok()) return self->Complete(self->error_);
    self->OpenNow();
  });
}

void BrpcSetUp::EndOfPeer() {
  control_.Post([self = shared_from_this()] {
    if (const auto alive = self->open_.lock()) alive->EndOfBrpc();
  });
}

void BrpcSetUp::GiveUp() {
  made_ = nullptr;
  joined_ = nullptr;
  opened_ = nullptr;
  control_.Post([self = shared_from_this()] { self->Cancel(); });
}

void BrpcSetUp::Begin() {
  if (!error_.ok()) return;
  absl::Status begun = host_.Ready();
  const bool incoming = wish_.peer.has_value();
  if (begun.ok() && !host_.Keep(shared_from_this(), incoming)) {
    begun = NotRdma(WhyNotRdma::kCapacity, "too many connections are being set up");
  }
  if (begun.ok() && incoming) begun = host_.MayAccept();
  if (begun.ok()) begun = MakePair();
  if (!begun.ok()) Fail(begun);
}

absl::Status BrpcSetUp::MakePair() {
  const auto port = ChooseBrpcPort(host_, loop_, wish_);
  if (!port.ok()) return port.status();
  auto endpoint = std::make_unique<BrpcEndpoint>(host_.parts(), *port);
  endpoint_ = endpoint.get();
  end_ = std::move(endpoint);
  own_.gid = port->port.gid;
  own_.lid = port->port.lid;
  const absl::Status set = end_->SetTrafficClass(wish_.connection.traffic_class);
  if (!set.ok()) return set;
  const auto use = host_.UseOf(end_->context());
  if (!use.ok()) return use.status();
  auto pair = (*use)->CreatePair(loop_, end_, *this, PairWire::kBrpc);
  if (!pair.ok()) return pair.status();
  pair_ = *std::move(pair);
  pair_->Enroll(std::nullopt);
  return absl::OkStatus();
}

// All of its receives are posted.
void BrpcSetUp::OnEnrolled(const absl::Status& status) {
  if (!error_.ok()) return;
  if (!status.ok()) return Fail(status);
  const ReceiveTerms terms = pair_->terms();
  own_.number = pair_->number();
  own_.block_bytes = terms.block_bytes;
  own_.receive_slots = terms.receive_slots;
  own_.send_slots = static_cast<uint16_t>(pair_->send_slots());
  if (wish_.peer) {
    const absl::Status joined = JoinNow(*wish_.peer);
    if (!joined.ok()) return Fail(joined);
  }
  loop_.Post([self = shared_from_this(), own = own_] {
    if (self->made_) std::exchange(self->made_, nullptr)(own);
  });
}

absl::Status BrpcSetUp::JoinNow(const BrpcEnd& peer) {
  // It may send as soon as it knows this end.
  pair_->MeetBrpc(own_, peer);
  endpoint_->SetPeer(peer);
  rdma_conn_param param = ConnectParameters(host_.parts().options, "", 0, 0);
  const Clock& clock = control_.clock();
  const TimePoint began = clock.Now();
  const int error = endpoint_->Accept(param);
  if (error == 0) return absl::OkStatus();
  if (wish_.peer) host_.LookedInVain(clock.Now() - began);
  return SetUpError(*endpoint_, error);
}

void BrpcSetUp::OpenNow() {
  Check(pair_ != nullptr, "what was joined is opened once");
  auto pair = std::move(pair_);
  open_ = pair;
  ConnectionInfo info;
  info.local = endpoint_->local();
  info.peer = endpoint_->peer();
  info.wire = "brpc";
  endpoint_ = nullptr;
  pair->Open(std::nullopt, wish_.connection, std::move(info),
             [self = shared_from_this()](std::unique_ptr<Connection> connection) {
               if (self->opened_ == nullptr) return;
               std::exchange(self->opened_, nullptr)(std::move(connection));
             });
  error_ = absl::CancelledError("it is open");
  host_.Drop(*this);
}

void BrpcSetUp::OnLost(const absl::Status& why) {
  if (pair_ == nullptr) return;
  pair_.reset();
  endpoint_ = nullptr;
  Fail(NotRdma(WhyNotRdma::kBroken, why.message()));
}

void BrpcSetUp::Fail(const absl::Status& why) {
  if (!error_.ok()) return;
  // Drop may drop the last reference but for this one.
  const auto self = shared_from_this();
  error_ = Detached(why);
  endpoint_ = nullptr;
  if (pair_ != nullptr) std::exchange(pair_, nullptr)->Retire(QueuePair::Ending::kDrain, error_);
  end_.reset();
  host_.Drop(*this);
  Complete(error_);
}

void BrpcSetUp::Complete(const absl::Status& why) {
  loop_.Post([self = shared_from_this(), why = Detached(why)] {
    if (self->made_) return std::exchange(self->made_, nullptr)(why);
    if (self->joined_) return std::exchange(self->joined_, nullptr)(why);
    if (self->opened_) std::exchange(self->opened_, nullptr)(why);
  });
}

}  // namespace farcall
