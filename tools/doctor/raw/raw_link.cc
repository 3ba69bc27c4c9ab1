// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/raw/raw_link.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/rdma_options.h"

namespace farcall::doctor {
namespace {

constexpr uint64_t kSendId = 1u << 31;  // above all slots

// Posting gives errno's number, and with siw a negative one.
absl::Status Posted(int result, const char* call) {
  if (result == 0) return absl::OkStatus();
  return Annotate(ErrnoStatus(result < 0 ? -result : result), call);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RawLink>> RawLink::Create(const VerbsApi& api, CmId id) {
  std::unique_ptr<RawLink> link(new RawLink(api, std::move(id)));
  if (absl::Status status = link->Prepare(); !status.ok()) return status;
  return link;
}

RawLink::~RawLink() = default;

std::string RawLink::device() const { return api_.ibv.get_device_name(id_->verbs->device); }

absl::Status RawLink::Prepare() {
  const size_t bytes = size_t{kReceives + 1} * kMessage;
  memory_ = std::make_unique<std::byte[]>(bytes);
  auto pd = AllocateDomain(api_, id_->verbs);
  if (!pd.ok()) return pd.status();
  pd_ = *std::move(pd);
  auto region = RegisterMemory(api_, pd_.get(), {memory_.get(), bytes}, IBV_ACCESS_LOCAL_WRITE);
  if (!region.ok()) return Annotate(region.status(), absl::StrCat(bytes, " bytes"));
  region_ = *std::move(region);
  auto cq = CreateCompletionQueue(api_, id_->verbs, kReceives + kSends, nullptr, nullptr);
  if (!cq.ok()) return cq.status();
  cq_ = *std::move(cq);
  for (const uint32_t inline_bytes : {kPing, 0u}) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = cq_.get();
    attributes.recv_cq = cq_.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = kSends,
                      .max_recv_wr = kReceives,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = inline_bytes};
    if (api_.rdma.create_qp(id_.get(), pd_.get(), &attributes) == 0) {
      inline_pings_ = inline_bytes > 0;
      break;
    }
    if (inline_bytes == 0) return Annotate(ErrnoStatus(errno), "rdma_create_qp");
  }
  for (uint32_t slot = 0; slot < kReceives; ++slot) {
    if (absl::Status status = PostReceive(slot); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RawLink::PostReceive(uint32_t slot) {
  ibv_sge range{reinterpret_cast<uint64_t>(SlotOf(slot)), kMessage, region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = slot;
  request.sg_list = &range;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return Posted(ibv_post_recv(id_->qp, &request, &bad), "ibv_post_recv");
}

absl::Status RawLink::Send(uint32_t bytes) {
  if (sends_ == kSends) return absl::ResourceExhaustedError("the send queue is full");
  ibv_sge range{reinterpret_cast<uint64_t>(SlotOf(kReceives)), bytes, region_->lkey};
  ibv_send_wr request{};
  request.wr_id = kSendId;
  request.sg_list = &range;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  if (inline_pings_ && bytes <= kPing) request.send_flags |= IBV_SEND_INLINE;
  ibv_send_wr* bad = nullptr;
  absl::Status posted = Posted(ibv_post_send(id_->qp, &request, &bad), "ibv_post_send");
  if (posted.ok()) ++sends_;
  return posted;
}

absl::StatusOr<std::vector<uint32_t>> RawLink::Poll() {
  std::vector<uint32_t> came;
  std::array<ibv_wc, 16> completions;
  const int count =
      ibv_poll_cq(cq_.get(), static_cast<int>(completions.size()), completions.data());
  if (count < 0) return absl::InternalError("ibv_poll_cq failed");
  for (const ibv_wc& wc : std::span(completions).first(static_cast<size_t>(count))) {
    if (wc.status != IBV_WC_SUCCESS) {
      return absl::UnavailableError(
          absl::StrCat("the queue pair broke: ", api_.ibv.wc_status_str(wc.status),
                       ", vendor's error ", wc.vendor_err));
    }
    if (wc.wr_id == kSendId) {
      --sends_;
      continue;
    }
    came.push_back(wc.byte_len);
    if (absl::Status status = PostReceive(static_cast<uint32_t>(wc.wr_id)); !status.ok()) {
      return status;
    }
  }
  return came;
}

void Drop(const VerbsApi& api, CmEvent event) {
  rdma_cm_id* const id = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : nullptr;
  // rdma_destroy_id(3) waits until the id's events are acknowledged.
  event.reset();
  if (id != nullptr) Own(api, id).reset();
}

absl::StatusOr<CmEvent> AwaitEvent(const VerbsApi& api, rdma_event_channel* channel,
                                   rdma_cm_event_type wanted, TimePoint deadline) {
  const std::string what = api.rdma.event_str(wanted);
  while (true) {
    auto event = NextCmEvent(api, channel);
    if (!event.ok()) return event.status();
    if (*event != nullptr) {
      if ((*event)->event == wanted) return event;
      if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        Drop(api, *std::move(event));
        continue;
      }
      return absl::UnavailableError(absl::StrCat("waited for ", what, ", and had ",
                                                 api.rdma.event_str((*event)->event), ", status ",
                                                 (*event)->status));
    }
    using std::chrono::milliseconds;
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= milliseconds(0)) {
      return absl::DeadlineExceededError(absl::StrCat("no ", what, " in time"));
    }
    pollfd descriptor{channel->fd, POLLIN, 0};
    poll(&descriptor, 1, static_cast<int>(left.count()) + 1);
  }
}

rdma_conn_param RawParameters() {
  const RdmaOptions defaults;
  rdma_conn_param param{};
  param.responder_resources = 1;
  param.initiator_depth = 1;
  param.retry_count = defaults.retry_count;
  param.rnr_retry_count = defaults.rnr_retry;
  return param;
}

}  // namespace farcall::doctor
