// SPDX-License-Identifier: Apache-2.0
//
// RawLink: one end of a reliable connection by verbs alone, without the library: what the library
// is compared with. It sends messages of three lengths, which say what they are:
//   kPing     is answered with one of its own length
//   kMessage  is counted; after each kAckEvery of them follows a kAck
// A sender has at most kWindow messages without their kAck, so that each finds a receive.

#ifndef FARCALL_TOOLS_DOCTOR_RAW_RAW_LINK_H_
#define FARCALL_TOOLS_DOCTOR_RAW_RAW_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/time.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::doctor {

inline constexpr uint32_t kAck = 8;
inline constexpr uint32_t kPing = 64;
inline constexpr uint32_t kMessage = 64 << 10;
inline constexpr uint32_t kAckEvery = 16;
inline constexpr uint32_t kWindow = 32;

// One thread at a time. Polls without sleeping, as who measures does.
class RawLink {
 public:
  // `id` has its device; all receives are posted when this returns.
  static absl::StatusOr<std::unique_ptr<RawLink>> Create(const VerbsApi& api, CmId id);
  RawLink(const RawLink&) = delete;
  RawLink& operator=(const RawLink&) = delete;
  ~RawLink();

  rdma_cm_id* id() const { return id_.get(); }
  std::string device() const;
  // That have not completed.
  uint32_t sends() const { return sends_; }
  // Has room for it: kWindow messages and an answer to each.
  absl::Status Send(uint32_t bytes);
  // What came since the last time: the lengths of messages, whose receives are posted again.
  // Empty: nothing. Errors name the status of the completion.
  absl::StatusOr<std::vector<uint32_t>> Poll();

 private:
  static constexpr uint32_t kReceives = 2 * kWindow;
  static constexpr uint32_t kSends = 4 * kWindow;

  RawLink(const VerbsApi& api, CmId id) : api_(api), id_(std::move(id)) {}
  absl::Status Prepare();
  absl::Status PostReceive(uint32_t slot);
  std::byte* SlotOf(uint32_t slot) { return memory_.get() + size_t{slot} * kMessage; }

  const VerbsApi& api_;
  // Receives, and one more that all sends send.
  std::unique_ptr<std::byte[]> memory_;
  ProtectionDomain pd_;
  MemoryRegion region_;
  CompletionQueue cq_;
  CmId id_;
  bool inline_pings_ = false;
  uint32_t sends_ = 0;
};

// Of an event that nobody waits for: acknowledges it, and refuses a request to connect, whose id
// would else be nobody's.
void Drop(const VerbsApi& api, CmEvent event);

// The next event of `channel`, which is to be `wanted`; requests to connect that are not are
// dropped. Waits without holding a processor.
absl::StatusOr<CmEvent> AwaitEvent(const VerbsApi& api, rdma_event_channel* channel,
                                   rdma_cm_event_type wanted, TimePoint deadline);

// Of rdma_connect(3) and rdma_accept(3): those of the library's defaults.
rdma_conn_param RawParameters();

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_RAW_RAW_LINK_H_
