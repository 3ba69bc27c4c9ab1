// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/queue_pair.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/device_use.h"
#include "transport/rdma/rdma_connection.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

uint32_t Clip(uint32_t wanted, int most) {
  return std::min(wanted, static_cast<uint32_t>(std::max(0, most)));
}

struct Shape {
  ibv_qp_init_attr attributes{};
  uint32_t own_receives = 0;
};

Shape ShapeOf(const RdmaOptions& options, const ibv_device_attr& caps, const Lane& lane) {
  Shape shape;
  ibv_qp_init_attr& attributes = shape.attributes;
  attributes.send_cq = lane.completions();
  attributes.recv_cq = lane.completions();
  attributes.srq = lane.shared_receives();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = Clip(options.send_slots, caps.max_qp_wr);
  attributes.cap.max_send_sge =
      Clip(std::min<uint32_t>(options.max_send_segments, MessagePlan::kMostSegments), caps.max_sge);
  if (lane.shared_receives() == nullptr) {
    shape.own_receives = Clip(options.receive_slots, caps.max_qp_wr);
    attributes.cap.max_recv_wr = shape.own_receives;
    attributes.cap.max_recv_sge = 1;
  }
  return shape;
}

// Devices tell how much goes inline only by refusing more.
int CreateWithInline(const VerbsApi& api, rdma_cm_id* id, ibv_pd* pd, uint32_t max_inline,
                     const ibv_qp_init_attr& wanted) {
  for (const uint32_t inline_bytes : {max_inline, uint32_t{128}, uint32_t{64}, uint32_t{0}}) {
    if (inline_bytes > max_inline) continue;
    ibv_qp_init_attr attributes = wanted;
    attributes.cap.max_inline_data = inline_bytes;
    if (api.rdma.create_qp(id, pd, &attributes) == 0) {
      return static_cast<int>(std::min(max_inline, attributes.cap.max_inline_data));
    }
    if (errno != EINVAL && errno != ENOMEM && errno != EOPNOTSUPP) break;
  }
  return -1;
}

}  // namespace

absl::StatusOr<std::shared_ptr<QueuePair>> QueuePair::Create(DeviceUse& use,
                                                             std::shared_ptr<Lane> lane, CmId& id,
                                                             SetUp& set_up) {
  const RdmaOptions& options = use.parts().options;
  const Shape shape = ShapeOf(options, use.device().info().caps, *lane);
  const int max_inline = CreateWithInline(use.parts().api, id.get(), use.device().pd(),
                                          options.max_inline, shape.attributes);
  if (max_inline < 0) {
    return NotRdma(WhyNotRdma::kDeviceRefused,
                   Annotate(ErrnoStatus(errno), "rdma_create_qp").message());
  }
  MessageChannel::Limits limits;
  limits.send_slots = shape.attributes.cap.max_send_wr;
  limits.receive_slots =
      lane->shared_receives() == nullptr ? shape.own_receives : options.receive_slots;
  limits.max_inline = static_cast<uint32_t>(max_inline);
  limits.max_segments = shape.attributes.cap.max_send_sge;
  limits.copy_out_below = options.copy_out_below;
  if (limits.send_slots < kMinSlots || limits.receive_slots < kMinSlots) {
    use.parts().api.rdma.destroy_qp(id.get());
    return NotRdma(WhyNotRdma::kDeviceRefused, "its queues have no room for 4 messages");
  }
  std::shared_ptr<QueuePair> pair(
      new QueuePair(use, std::move(lane), std::move(id), set_up, limits, shape.own_receives));
  use.Add(pair);
  return pair;
}

QueuePair::QueuePair(DeviceUse& use, std::shared_ptr<Lane> lane, CmId id, SetUp& set_up,
                     const MessageChannel::Limits& limits, uint32_t own_slots)
    : use_(use),
      lane_(std::move(lane)),
      id_(std::move(id)),
      channel_(std::make_shared<MessageChannel>(use.parts().api, use.parts().pool,
                                                use.device().index(), *id_->qp, limits, own_slots)),
      set_up_(&set_up),
      drain_timer_([this] {
        drained_ = true;
        DestroyIfOver();
      }) {
  id_->context = static_cast<CmHandler*>(this);
}

QueuePair::~QueuePair() { Check(id_ == nullptr, "a queue pair is retired before it dies"); }

ReceiveTerms QueuePair::terms() const {
  return {.block_bytes = kReceiveBlock,
          .initial_receives = static_cast<uint16_t>(ReceiveLedger::kMinimum),
          .receive_slots = static_cast<uint16_t>(channel_->limits().receive_slots)};
}

void QueuePair::Enroll(std::optional<ReceiveTerms> peer) {
  if (const ReceiveQueue* const own = channel_->own_queue()) {
    // So that its receives find blocks that the device knows. Where not, it is not enrolled.
    use_.parts().pool.Reserve(kReceiveBlock, own->slots()).IgnoreError();
    use_.parts().registrar.RegisterPending().IgnoreError();
  }
  lane_->loop().Post([self = shared_from_this(), peer] {
    const absl::Status status = self->lane_->Enroll(self->channel_);
    if (status.ok() && peer) self->channel_->Open(*peer, /*initiator=*/false);
    self->use_.parts().control.Post([self, status = Detached(status)] {
      if (self->set_up_ != nullptr) self->set_up_->OnEnrolled(status);
    });
  });
}

void QueuePair::Open(std::optional<ReceiveTerms> peer, const ConnectionOptions& options,
                     ConnectionInfo info, Deliver deliver) {
  Check(state_ == State::kSettingUp, "a queue pair is opened once");
  state_ = State::kOpen;
  set_up_ = nullptr;
  SetRnrTimer();
  info.device = use_.device().name();
  lane_->loop().Post([self = shared_from_this(), peer, options, info = std::move(info),
                      deliver = std::move(deliver)]() mutable {
    if (peer) self->channel_->Open(*peer, /*initiator=*/true);
    // The first message leaves now, whenever the connection is started.
    Buffer nothing;
    self->channel_->Send(nothing, /*fin=*/false);
    // The connection may outlive this pair, its lane and its device, if its handler has not
    // read to its end: it holds none of them.
    auto retire = [weak = self->weak_from_this(), &control = self->use_.parts().control] {
      control.Post([weak] {
        const auto alive = weak.lock();
        if (alive == nullptr) return;
        alive->Retire(Ending::kDrain, absl::CancelledError("closed at this end"));
      });
    };
    deliver(std::make_unique<RdmaConnection>(
        RdmaConnection::Parts{self->lane_->loop(), self->use_.parts().pool, self->channel_,
                              std::move(retire), options, std::move(info)}));
  });
}

void QueuePair::Break(const absl::Status& why) {
  lane_->loop().Post([self = shared_from_this(), why = Detached(why)] {
    self->lane_->Break(*self->channel_, why);
  });
}

void QueuePair::Retire(Ending ending, const absl::Status& why) {
  if (state_ == State::kDestroyed) return;
  if (ending == Ending::kNow) drained_ = true;
  if (state_ == State::kStopping) return DestroyIfOver();
  state_ = State::kStopping;
  if (set_up_ != nullptr) std::exchange(set_up_, nullptr)->OnLost(why);
  if (ending == Ending::kDrain) Disconnect();
  EventLoop& control = use_.parts().control;
  control.SetTimer(drain_timer_, control.now() + kDrainTime);
  lane_->loop().Post([self = shared_from_this(), why = Detached(why), &control] {
    self->lane_->Break(*self->channel_, why);
    control.Post([self] {
      self->stopped_ = true;
      self->DestroyIfOver();
    });
    self->lane_->WhenDrained(*self->channel_, [self, &control] {
      control.Post([self] {
        self->drained_ = true;
        self->DestroyIfOver();
      });
    });
  });
}

void QueuePair::OnCmNews(const CmNews& news) {
  if (news.type == RDMA_CM_EVENT_DEVICE_REMOVAL) return use_.OnRemoval();
  if (set_up_ != nullptr) return set_up_->OnSetUpNews(news);
  if (state_ == State::kOpen && news.type == RDMA_CM_EVENT_DISCONNECTED) {
    Break(absl::UnavailableError("the peer disconnected"));
  }
}

// rdma_cm leaves it at 655 ms. Not every device has it: iWARP has nothing of the kind.
void QueuePair::SetRnrTimer() {
  ibv_qp_attr attributes{};
  attributes.min_rnr_timer = use_.parts().options.min_rnr_timer;
  use_.parts().api.ibv.modify_qp(id_->qp, &attributes, IBV_QP_MIN_RNR_TIMER);
}

// Fails where it was never connected, and on devices that are gone.
void QueuePair::Disconnect() {
  use_.parts().api.rdma.disconnect(id_.get());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  use_.parts().api.ibv.modify_qp(id_->qp, &attributes, IBV_QP_STATE);
}

void QueuePair::DestroyIfOver() {
  if (!stopped_ || !drained_ || state_ != State::kStopping) return;
  state_ = State::kDestroyed;
  use_.parts().control.CancelTimer(drain_timer_);
  id_.reset();
  lane_->loop().Post([self = shared_from_this()] {
    self->lane_->Forget(*self->channel_);
    self->use_.parts().control.Post([self] { self->use_.Remove(*self); });
  });
}

}  // namespace farcall
