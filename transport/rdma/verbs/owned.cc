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

// What a call has left in errno.
absl::Status Failed(const char* call) { return Annotate(ErrnoStatus(errno), call); }

template <typename T>
absl::StatusOr<Owned<T>> OwnOrFail(const VerbsApi& api, T* given, const char* call) {
  if (given == nullptr) return Failed(call);
  return Own(api, given);
}

absl::Status SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return Failed("fcntl(O_NONBLOCK)");
  return absl::OkStatus();
}

}  // namespace

void DestroyOwned(const VerbsApi& api, ibv_pd* pd) { Destroyed(api.ibv.dealloc_pd(pd)); }
void DestroyOwned(const VerbsApi& api, ibv_mr* mr) { Destroyed(api.ibv.dereg_mr(mr)); }
void DestroyOwned(const VerbsApi&, ibv_mw* window) { Destroyed(ibv_dealloc_mw(window)); }

void DestroyOwned(const VerbsApi& api, ibv_comp_channel* channel) {
  Destroyed(api.ibv.destroy_comp_channel(channel));
}

void DestroyOwned(const VerbsApi& api, ibv_cq* cq) { Destroyed(api.ibv.destroy_cq(cq)); }
void DestroyOwned(const VerbsApi& api, ibv_srq* srq) { Destroyed(api.ibv.destroy_srq(srq)); }

void DestroyOwned(const VerbsApi& api, ibv_qp* queue_pair) {
  Destroyed(api.ibv.destroy_qp(queue_pair));
}

void DestroyOwned(const VerbsApi& api, rdma_event_channel* channel) {
  api.rdma.destroy_event_channel(channel);
}

void DestroyOwned(const VerbsApi& api, rdma_cm_id* id) {
  if (id->qp != nullptr) api.rdma.destroy_qp(id);
  DestroyedId(api.rdma.destroy_id(id));
}

void DestroyOwned(const VerbsApi& api, rdma_cm_event* event) {
  DestroyedId(api.rdma.ack_cm_event(event));
}

absl::StatusOr<ProtectionDomain> AllocateDomain(const VerbsApi& api, ibv_context* context) {
  return OwnOrFail(api, api.ibv.alloc_pd(context), "ibv_alloc_pd");
}

absl::StatusOr<MemoryRegion> RegisterMemory(const VerbsApi& api, ibv_pd* pd,
                                            std::span<std::byte> memory, unsigned int access) {
  return OwnOrFail(api, api.ibv.reg_mr(pd, memory.data(), memory.size(), access), "ibv_reg_mr");
}

absl::StatusOr<MemoryWindow> CreateMemoryWindow(const VerbsApi& api, ibv_pd* pd) {
  return OwnOrFail(api, ibv_alloc_mw(pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
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
  ibv_cq* const cq = api.ibv.create_cq(context, entries, cq_context, channel, 0);
  return OwnOrFail(api, cq, "ibv_create_cq");
}

absl::StatusOr<SharedReceiveQueue> CreateSharedReceiveQueue(const VerbsApi& api, ibv_pd* pd,
                                                            uint32_t max_receives) {
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = max_receives;
  attributes.attr.max_sge = 1;
  return OwnOrFail(api, api.ibv.create_srq(pd, &attributes), "ibv_create_srq");
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
