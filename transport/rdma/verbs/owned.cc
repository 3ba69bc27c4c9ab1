// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/verbs/owned.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/status/status.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"

namespace farcall {
namespace {

constexpr const char* kBusy = "RDMA resources are destroyed after what was made of them";

// ibv_* functions give the errno back.
void Destroyed(int error) { Check(error != EBUSY, kBusy); }
// rdma_* functions give -1, and errno.
void DestroyedId(int result) { Check(result == 0 || errno != EBUSY, kBusy); }

// What a call that gave null has left in errno.
absl::Status Failed(const char* call) { return Annotate(ErrnoStatus(errno), call); }

absl::Status SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return Failed("fcntl(O_NONBLOCK)");
  return absl::OkStatus();
}

}  // namespace

template <>
void VerbsDeleter<ibv_pd>::operator()(ibv_pd* pd) const {
  Destroyed(api->ibv.dealloc_pd(pd));
}

template <>
void VerbsDeleter<ibv_mr>::operator()(ibv_mr* mr) const {
  Destroyed(api->ibv.dereg_mr(mr));
}

template <>
void VerbsDeleter<ibv_mw>::operator()(ibv_mw* window) const {
  Destroyed(ibv_dealloc_mw(window));
}

template <>
void VerbsDeleter<ibv_comp_channel>::operator()(ibv_comp_channel* channel) const {
  Destroyed(api->ibv.destroy_comp_channel(channel));
}

template <>
void VerbsDeleter<ibv_cq>::operator()(ibv_cq* cq) const {
  Destroyed(api->ibv.destroy_cq(cq));
}

template <>
void VerbsDeleter<ibv_srq>::operator()(ibv_srq* srq) const {
  Destroyed(api->ibv.destroy_srq(srq));
}

template <>
void VerbsDeleter<ibv_qp>::operator()(ibv_qp* queue_pair) const {
  Destroyed(api->ibv.destroy_qp(queue_pair));
}

template <>
void VerbsDeleter<rdma_event_channel>::operator()(rdma_event_channel* channel) const {
  api->rdma.destroy_event_channel(channel);
}

template <>
void VerbsDeleter<rdma_cm_id>::operator()(rdma_cm_id* id) const {
  if (id->qp != nullptr) api->rdma.destroy_qp(id);
  DestroyedId(api->rdma.destroy_id(id));
}

template <>
void VerbsDeleter<rdma_cm_event>::operator()(rdma_cm_event* event) const {
  DestroyedId(api->rdma.ack_cm_event(event));
}

absl::StatusOr<ProtectionDomain> AllocateDomain(const VerbsApi& api, ibv_context* context) {
  auto domain = Own(api, api.ibv.alloc_pd(context));
  if (domain == nullptr) return Failed("ibv_alloc_pd");
  return domain;
}

absl::StatusOr<MemoryRegion> RegisterMemory(const VerbsApi& api, ibv_pd* pd,
                                            std::span<std::byte> memory, unsigned int access) {
  auto region = Own(api, api.ibv.reg_mr(pd, memory.data(), memory.size(), access));
  if (region == nullptr) return Failed("ibv_reg_mr");
  return region;
}

absl::StatusOr<MemoryWindow> CreateMemoryWindow(const VerbsApi& api, ibv_pd* pd) {
  auto window = Own(api, ibv_alloc_mw(pd, IBV_MW_TYPE_2));
  if (window == nullptr) return Failed("ibv_alloc_mw");
  return window;
}

absl::StatusOr<CompletionChannel> CreateCompletionChannel(const VerbsApi& api,
                                                          ibv_context* context) {
  auto channel = Own(api, api.ibv.create_comp_channel(context));
  if (channel == nullptr) return Failed("ibv_create_comp_channel");
  if (absl::Status status = SetNonBlocking(channel->fd); !status.ok()) return status;
  return channel;
}

absl::StatusOr<CompletionQueue> CreateCompletionQueue(const VerbsApi& api, ibv_context* context,
                                                      int entries, void* cq_context,
                                                      ibv_comp_channel* channel) {
  // Vector 0: which interrupt wakes matters little to a loop that polls.
  auto cq = Own(api, api.ibv.create_cq(context, entries, cq_context, channel, 0));
  if (cq == nullptr) return Failed("ibv_create_cq");
  return cq;
}

absl::StatusOr<SharedReceiveQueue> CreateSharedReceiveQueue(const VerbsApi& api, ibv_pd* pd,
                                                            uint32_t max_receives,
                                                            uint32_t max_segments,
                                                            void* srq_context) {
  ibv_srq_init_attr attributes{};
  attributes.srq_context = srq_context;
  attributes.attr.max_wr = max_receives;
  attributes.attr.max_sge = max_segments;
  auto srq = Own(api, api.ibv.create_srq(pd, &attributes));
  if (srq == nullptr) return Failed("ibv_create_srq");
  return srq;
}

absl::StatusOr<EventChannel> CreateEventChannel(const VerbsApi& api) {
  auto channel = Own(api, api.rdma.create_event_channel());
  if (channel == nullptr) return Failed("rdma_create_event_channel");
  if (absl::Status status = SetNonBlocking(channel->fd); !status.ok()) return status;
  return channel;
}

absl::StatusOr<CmId> CreateCmId(const VerbsApi& api, rdma_event_channel* channel,
                                void* id_context) {
  rdma_cm_id* id = nullptr;
  if (api.rdma.create_id(channel, &id, id_context, RDMA_PS_TCP) != 0) {
    return Failed("rdma_create_id");
  }
  return Own(api, id);
}

absl::StatusOr<CmEvent> NextCmEvent(const VerbsApi& api, rdma_event_channel* channel) {
  rdma_cm_event* event = nullptr;
  if (api.rdma.get_cm_event(channel, &event) == 0) return Own(api, event);
  if (errno == EAGAIN || errno == EINTR) return CmEvent();
  return Failed("rdma_get_cm_event");
}

}  // namespace farcall
