// SPDX-License-Identifier: Apache-2.0
//
// Owning handles for what verbs and rdma_cm give out: unique_ptrs that know the table.
//
// Order of destruction, which the kernel asks for with EBUSY: MemoryWindow, OwnedQueuePair or CmId
// (its queue pair, then the id), SharedReceiveQueue and CompletionQueue, MemoryRegion,
// ProtectionDomain and CompletionChannel; EventChannel after all ids on it. Members of one class
// are declared in the opposite order. EBUSY is therefore a bug and checked. EIO and ENODEV, which
// is what is heard after the device went away, are not: the kernel has freed its part already.
//
// With the control loop held; all of these are system calls.

#ifndef FARCALL_TRANSPORT_RDMA_VERBS_OWNED_H_
#define FARCALL_TRANSPORT_RDMA_VERBS_OWNED_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

void DestroyOwned(const VerbsApi& api, ibv_pd* pd);
void DestroyOwned(const VerbsApi& api, ibv_mr* mr);
void DestroyOwned(const VerbsApi& api, ibv_mw* window);
void DestroyOwned(const VerbsApi& api, ibv_comp_channel* channel);
void DestroyOwned(const VerbsApi& api, ibv_cq* cq);
void DestroyOwned(const VerbsApi& api, ibv_srq* srq);
void DestroyOwned(const VerbsApi& api, ibv_qp* queue_pair);
void DestroyOwned(const VerbsApi& api, rdma_event_channel* channel);
void DestroyOwned(const VerbsApi& api, rdma_cm_id* id);
void DestroyOwned(const VerbsApi& api, rdma_cm_event* event);

// Ends the life of a T. The table outlives the handles.
template <typename T>
struct VerbsDeleter {
  const VerbsApi* api = nullptr;
  void operator()(T* owned) const { DestroyOwned(*api, owned); }
};

template <typename T>
using Owned = std::unique_ptr<T, VerbsDeleter<T>>;

using ProtectionDomain = Owned<ibv_pd>;
using MemoryRegion = Owned<ibv_mr>;
using MemoryWindow = Owned<ibv_mw>;
using CompletionChannel = Owned<ibv_comp_channel>;
// Its end blocks until every event of it that was got is acknowledged, ibv_get_cq_event(3).
using CompletionQueue = Owned<ibv_cq>;
using SharedReceiveQueue = Owned<ibv_srq>;
using EventChannel = Owned<rdma_event_channel>;
// Of ibv_create_qp(3).
using OwnedQueuePair = Owned<ibv_qp>;
// With its queue pair, if it has one: that goes first. Its end blocks until every event of
// it that was got is acknowledged, rdma_destroy_id(3).
using CmId = Owned<rdma_cm_id>;
// Acknowledged when it ends; its private data live as long.
using CmEvent = Owned<rdma_cm_event>;

// Takes over what a call of the table gave, for example the id of an RDMA_CM_EVENT_CONNECT_REQUEST.
template <typename T>
Owned<T> Own(const VerbsApi& api, T* given) {
  return Owned<T>(given, VerbsDeleter<T>{&api});
}

// Each fails with the errno in words and the name of the call.
absl::StatusOr<ProtectionDomain> AllocateDomain(const VerbsApi& api, ibv_context* context);
absl::StatusOr<MemoryRegion> RegisterMemory(const VerbsApi& api, ibv_pd* pd,
                                            std::span<std::byte> memory, unsigned int access);
// Of type 2, bound to nothing.
absl::StatusOr<MemoryWindow> CreateMemoryWindow(const VerbsApi& api, ibv_pd* pd);
// Its descriptor is made non-blocking.
absl::StatusOr<CompletionChannel> CreateCompletionChannel(const VerbsApi& api,
                                                          ibv_context* context);
absl::StatusOr<CompletionQueue> CreateCompletionQueue(const VerbsApi& api, ibv_context* context,
                                                      int entries, void* cq_context,
                                                      ibv_comp_channel* channel);
// For receives of one segment.
absl::StatusOr<SharedReceiveQueue> CreateSharedReceiveQueue(const VerbsApi& api, ibv_pd* pd,
                                                            uint32_t max_receives);
// Its descriptor is made non-blocking.
absl::StatusOr<EventChannel> CreateEventChannel(const VerbsApi& api);
// For RDMA_PS_TCP.
absl::StatusOr<CmId> CreateCmId(const VerbsApi& api, rdma_event_channel* channel, void* id_context);
// Null: no event waits.
absl::StatusOr<CmEvent> NextCmEvent(const VerbsApi& api, rdma_event_channel* channel);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_VERBS_OWNED_H_
