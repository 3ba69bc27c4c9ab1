// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/host/queue_pair_creation.h"

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/brpc_end.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

uint32_t Clip(uint32_t wanted, int most) {
  return std::min(wanted, static_cast<uint32_t>(std::max(0, most)));
}

struct Shape {
  ibv_qp_init_attr attributes{};
  uint32_t own_receives = 0;
  uint32_t windows = 0;
  uint32_t reads = 0;
};

// References take room in the send queue, which they are given only where there is enough.
void AddReferences(const RdmaOptions& options, const ibv_device_attr& caps, Shape& shape) {
  const uint32_t windows = Clip(options.read_window, caps.max_qp_rd_atom);
  const uint32_t reads = Clip(options.read_window, caps.max_qp_init_rd_atom);
  uint32_t& slots = shape.attributes.cap.max_send_wr;
  if (windows < kMinWindows || reads == 0 ||
      slots + 2 * windows + reads > Clip(~0u, caps.max_qp_wr)) {
    return;
  }
  slots += 2 * windows + reads;
  shape.windows = windows;
  shape.reads = reads;
}

// What brpc allows.
constexpr uint32_t kMaxBrpcSlots = 4096;

uint32_t SlotsOf(uint32_t wanted, PairWire wire, const ibv_device_attr& caps) {
  if (wire == PairWire::kBrpc) {
    wanted = std::clamp<uint32_t>(wanted, BrpcEnd::kMinSlots, kMaxBrpcSlots);
  }
  return Clip(wanted, caps.max_qp_wr);
}

Shape ShapeOf(const RdmaOptions& options, const ibv_device_attr& caps, const DevicePoller& poller,
              PairWire wire, bool references) {
  Shape shape;
  ibv_qp_init_attr& attributes = shape.attributes;
  attributes.send_cq = poller.completions();
  attributes.recv_cq = poller.completions();
  attributes.srq = wire == PairWire::kOwn ? poller.shared_receives() : nullptr;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = SlotsOf(options.send_slots, wire, caps);
  attributes.cap.max_send_sge =
      Clip(std::min<uint32_t>(options.max_send_segments, MessagePlan::kMaxSegments), caps.max_sge);
  if (attributes.srq == nullptr) {
    shape.own_receives = SlotsOf(options.receive_slots, wire, caps);
    attributes.cap.max_recv_wr = shape.own_receives;
    attributes.cap.max_recv_sge = 1;
  }
  if (references) AddReferences(options, caps, shape);
  return shape;
}

// Devices tell how much goes inline only by refusing more. -1: `error` says why not.
int CreateWithInline(Endpoint& end, ibv_pd& pd, uint32_t max_inline, const ibv_qp_init_attr& wanted,
                     int& error) {
  for (const uint32_t inline_bytes : {max_inline, uint32_t{128}, uint32_t{64}, uint32_t{0}}) {
    if (inline_bytes > max_inline) continue;
    ibv_qp_init_attr attributes = wanted;
    attributes.cap.max_inline_data = inline_bytes;
    error = end.CreatePair(pd, attributes);
    if (error == 0) {
      return static_cast<int>(std::min(max_inline, attributes.cap.max_inline_data));
    }
    if (error != EINVAL && error != ENOMEM && error != EOPNOTSUPP) break;
  }
  return -1;
}

}  // namespace

absl::StatusOr<CreatedQueuePair> CreateQueuePair(const RdmaParts& parts, const RdmaDevice& device,
                                                 ReadsWhy reads, const DevicePoller& poller,
                                                 Endpoint& end, PairWire wire) {
  int error = 0;
  const RdmaOptions& options = parts.options;
  const ibv_device_attr& caps = device.info().caps;
  const auto create = [&](const Shape& shape) {
    return CreateWithInline(end, *device.pd(), options.max_inline, shape.attributes, error);
  };
  const bool references =
      wire == PairWire::kOwn && (reads == ReadsWhy::kAlways || reads == ReadsWhy::kMeasuring);
  Shape shape = ShapeOf(options, caps, poller, wire, references);
  int max_inline = create(shape);
  // Not every device can have as many work requests, of as many segments, as it says.
  if (max_inline < 0 && shape.windows > 0) {
    shape = ShapeOf(options, caps, poller, wire, /*references=*/false);
    max_inline = create(shape);
  }
  if (max_inline < 0) {
    return NotRdma(WhyNotRdma::kDeviceRefused, Annotate(ErrnoStatus(error), end.call()).message());
  }
  CreatedQueuePair created{.wire = wire, .own_receives = shape.own_receives};
  PairChannel::Limits& limits = created.limits;
  limits.windows = shape.windows;
  limits.reads = shape.reads;
  limits.read_at_least = options.read_at_least == kReadAuto ? kReadAutoFrom : options.read_at_least;
  limits.reads_why = references && shape.windows == 0 ? ReadsWhy::kNoRoom : reads;
  limits.binds_alone = device.info().binds_again();
  limits.send_slots = shape.attributes.cap.max_send_wr - 2 * shape.windows - shape.reads;
  limits.receive_slots = shape.own_receives > 0 ? shape.own_receives : options.receive_slots;
  limits.max_inline = static_cast<uint32_t>(max_inline);
  limits.max_segments = shape.attributes.cap.max_send_sge;
  // Of their own: some adapters scatter what they read into one segment only.
  limits.read_segments = std::max(1u, Clip(limits.max_segments, caps.max_sge_rd));
  limits.copy_out_below = options.copy_out_below;
  const uint32_t least = wire == PairWire::kBrpc ? BrpcEnd::kMinSlots : kMinSlots;
  if (std::min(limits.send_slots, limits.receive_slots) < least) {
    end.DestroyPair();
    return NotRdma(WhyNotRdma::kDeviceRefused,
                   absl::StrCat("its queues have no room for ", least, " messages"));
  }
  return created;
}

}  // namespace farcall
