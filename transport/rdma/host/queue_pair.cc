// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/host/queue_pair.h"

#include <string>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/channel/rdma_connection.h"

namespace farcall {
namespace {

template <typename Channel>
std::shared_ptr<Channel> MakeChannel(PairWire wire, const RdmaParts& parts, BlockPool& pool,
                                     size_t device, ibv_qp& pair, const CreatedQueuePair& created) {
  if (created.wire != wire) return nullptr;
  return std::make_shared<Channel>(parts.api, pool, device, pair, created.limits,
                                   created.own_receives, parts.copied);
}

}  // namespace

QueuePair::QueuePair(const RdmaParts& parts, const RdmaDevice& device,
                     std::shared_ptr<DevicePoller> poller, std::unique_ptr<Endpoint> end,
                     const CreatedQueuePair& created, SetUp& set_up, Events events)
    : parts_(parts),
      device_(device),
      poller_(std::move(poller)),
      end_(std::move(end)),
      messages_(MakeChannel<MessageChannel>(PairWire::kOwn, parts, poller_->pool(), device.index(),
                                            *end_->pair(), created)),
      brpc_(MakeChannel<BrpcChannel>(PairWire::kBrpc, parts, poller_->pool(), device.index(),
                                     *end_->pair(), created)),
      channel_(messages_ != nullptr ? std::shared_ptr<PairChannel>(messages_) : brpc_),
      set_up_(&set_up),
      events_(std::move(events)),
      hold_(parts.ports, {device.context(), end_->port()}),
      drain_timer_([this] {
        silent_ = takes_shared_;
        drained_ = true;
        DestroyIfOver();
      }) {
  end_->SetHandler(*this);
}

QueuePair::~QueuePair() { Check(end_ == nullptr, "a queue pair is retired before it dies"); }

ReceiveTerms QueuePair::terms() const {
  return {.block_bytes = kReceiveBlock,
          .initial_receives = static_cast<uint16_t>(ReceiveLedger::kMinimum),
          .receive_slots = static_cast<uint16_t>(channel_->limits().receive_slots),
          .windows = static_cast<uint8_t>(channel_->limits().windows),
          .reads = static_cast<uint8_t>(channel_->limits().reads)};
}

// Where there are fewer, fewer references are under way.
std::vector<ibv_mw*> QueuePair::MakeWindows(const ReceiveTerms& peer) {
  std::vector<ibv_mw*> made;
  if (!terms().RefersTo(peer)) return made;
  while (windows_.size() < terms().windows) {
    auto window = CreateMemoryWindow(parts_.api, device_.pd());
    if (!window.ok()) break;
    made.push_back(window->get());
    windows_.push_back(*std::move(window));
  }
  if (made.size() < kMinWindows) made.clear();
  return made;
}

// So that its receives find blocks that the device knows, which others that are set up at the same
// time do not take. Where not, it is not enrolled.
// An error says why the device does not know some.
absl::Status QueuePair::FillReceives() {
  ReceiveQueue* const own = channel_->own_queue();
  if (own == nullptr) return absl::OkStatus();
  poller_->pool().Reserve(kReceiveBlock, own->slots()).IgnoreError();
  absl::Status registered = parts_.registrar.RegisterPending(device_.index());
  own->Fill();
  return own->filled() ? absl::OkStatus() : registered;
}

// With the data loop held.
void QueuePair::ReportEnrolled(const absl::Status& enrolled) {
  parts_.control.Post([self = shared_from_this(), status = Detached(enrolled)] {
    if (self->set_up_ != nullptr) self->set_up_->OnEnrolled(status);
  });
}

void QueuePair::Enroll(std::optional<ReceiveTerms> peer, PeerTrust trust) {
  const absl::Status registered = FillReceives();
  // Its peer may send as soon as it is accepted.
  if (peer) takes_shared_ = MayHoldShared();
  poller_->loop().Post([self = shared_from_this(), peer, trust, registered = Detached(registered),
                        windows = peer ? MakeWindows(*peer) : std::vector<ibv_mw*>()]() mutable {
    absl::Status status = self->poller_->Enroll(self->channel_, trust);
    if (ReasonOf(status) == WhyNotRdma::kCapacity && !registered.ok()) status = registered;
    if (status.ok() && peer) {
      self->messages_->Open(self->terms(), *peer, /*initiator=*/false, std::move(windows));
    }
    self->ReportEnrolled(status);
  });
}

void QueuePair::Open(std::optional<ReceiveTerms> peer, const ConnectionOptions& options,
                     ConnectionInfo info, Deliver deliver) {
  Check(state_ == State::kSettingUp, "a queue pair is opened once");
  state_ = State::kOpen;
  set_up_ = nullptr;
  takes_shared_ = MayHoldShared();
  if (messages_ != nullptr) SetRnrTimer();
  info.set_up = std::string(end_->set_up());
  if (peer) {
    poller_->loop().Post([self = shared_from_this(), peer, windows = MakeWindows(*peer)]() mutable {
      self->messages_->Open(self->terms(), *peer, /*initiator=*/true, std::move(windows));
    });
  }
  MakeConnection(options, std::move(info), std::move(deliver));
}

void QueuePair::MakeConnection(const ConnectionOptions& options, ConnectionInfo info,
                               Deliver deliver) {
  info.device = device_.name();
  info.device_port = static_cast<uint32_t>(port());
  poller_->loop().Post([self = shared_from_this(), options, info = std::move(info),
                        deliver = std::move(deliver)]() mutable {
    if (self->brpc_ != nullptr) self->brpc_->MaySend();
    // The first message leaves now, whenever the connection is started.
    Buffer nothing;
    self->channel_->Send(nothing, /*fin=*/false);
    // The connection may outlive this pair, its poller and its device, if its handler has not
    // read to its end: it holds none of them.
    auto retire = [weak = self->weak_from_this(), &control = self->parts_.control] {
      control.Post([weak] {
        const auto alive = weak.lock();
        if (alive == nullptr) return;
        alive->Retire(Ending::kDrain, absl::CancelledError("closed at this end"));
      });
    };
    deliver(std::make_unique<RdmaConnection>(
        RdmaConnection::Parts{self->poller_->loop(), self->poller_->pool(), self->channel_,
                              std::move(retire), options, std::move(info)}));
  });
}

void QueuePair::MeetBrpc(const BrpcEnd& own, const BrpcEnd& peer) {
  poller_->loop().Post([self = shared_from_this(), own, peer] { self->brpc_->Open(own, peer); });
}

void QueuePair::EndOfBrpc() {
  if (state_ == State::kDestroyed) return;
  poller_->loop().Post([self = shared_from_this()] {
    self->brpc_->OnPeerEnd();
    self->poller_->Break(*self->channel_, absl::UnavailableError("its TCP connection has ended"));
  });
}

void QueuePair::Break(const absl::Status& why) {
  poller_->loop().Post([self = shared_from_this(), why = Detached(why)] {
    self->poller_->Break(*self->channel_, why);
  });
}

void QueuePair::Retire(Ending ending, const absl::Status& why) {
  if (state_ == State::kDestroyed) return;
  if (ending == Ending::kNow) drained_ = true;
  if (state_ == State::kStopping) return DestroyIfOver();
  // Of a device that is gone nothing is known.
  if (state_ != State::kOpen || ending == Ending::kNow) unheard_ = nullptr;
  state_ = State::kStopping;
  hold_.Release();
  if (set_up_ != nullptr) std::exchange(set_up_, nullptr)->OnLost(why);
  if (ending == Ending::kDrain) end_->Disconnect();
  EventLoop& control = parts_.control;
  control.SetTimer(drain_timer_, control.now() + kDrainTime);
  poller_->loop().Post([self = shared_from_this(), why = Detached(why), &control] {
    const PairChannel& channel = *self->channel_;
    const bool sent = channel.counters().messages > 0 && channel.quiet() && channel.error().ok();
    const bool heard = sent || channel.counters().receives > 0;
    self->poller_->Break(*self->channel_, why);
    control.Post([self, heard, seen = self->LookAtReferences()] {
      self->stopped_ = true;
      self->references_ = seen;
      if (self->unheard_ && !heard) self->unheard_();
      self->DestroyIfOver();
    });
  });
  if (!takes_shared_) Drain();
}

void QueuePair::OnLastReceive() {
  if (std::exchange(takes_shared_, false) && state_ == State::kStopping) Drain();
}

bool QueuePair::MayHoldShared() const {
  return channel_->own_queue() == nullptr && device_.info().tells_last_receive();
}

// What completes from here on was posted before.
void QueuePair::Drain() {
  poller_->loop().Post([self = shared_from_this()] {
    self->poller_->WhenDrained(*self->channel_, [self] {
      self->parts_.control.Post([self, seen = self->LookAtReferences()] {
        self->drained_ = true;
        self->references_ = seen;
        self->DestroyIfOver();
      });
    });
  });
}

void QueuePair::OnCmEvent(const CmEventInfo& event) {
  if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) return events_.device_removed();
  if (set_up_ != nullptr) return set_up_->OnCmEvent(event);
  if (state_ == State::kOpen && event.type == RDMA_CM_EVENT_DISCONNECTED) {
    Break(absl::UnavailableError("the peer disconnected"));
  }
}

// rdma_cm leaves it at 655 ms. Not every device has it: iWARP has nothing of the kind.
void QueuePair::SetRnrTimer() {
  ibv_qp_attr attributes{};
  attributes.min_rnr_timer = parts_.options.min_rnr_timer;
  parts_.api.ibv.modify_qp(end_->pair(), &attributes, IBV_QP_MIN_RNR_TIMER);
}

// Completions change this on the data loop until the queue pair is forgotten, those of what was
// flushed, too.
QueuePair::ReferencesSeen QueuePair::LookAtReferences() const {
  Check(poller_->loop().held(), "a channel is looked at on its own loop");
  return {.windows_failed = channel_->windows_failed(),
          .sent = channel_->counters().references > 0,
          .read = channel_->references_read() > 0};
}

void QueuePair::DestroyIfOver() {
  if (!stopped_ || !drained_ || state_ != State::kStopping) return;
  state_ = State::kDestroyed;
  if (references_.windows_failed) {
    events_.windows_failed();
  } else if (references_.sent) {
    events_.referred(references_.read);
  }
  parts_.control.CancelTimer(drain_timer_);
  // First, bound or not: in rxe a bound window holds its queue pair, whose end would wait for it
  // for a minute.
  windows_.clear();
  end_.reset();
  poller_->loop().Post([self = shared_from_this(), silent = silent_] {
    self->poller_->Forget(*self->channel_, silent);
    self->parts_.control.Post([self] { self->events_.forgotten(*self); });
  });
}

}  // namespace farcall
