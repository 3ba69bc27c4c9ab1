// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_CM_SOURCE_H_
#define FARCALL_TRANSPORT_RDMA_CM_CM_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// What an event says, copied: the event itself is acknowledged before it is handled, since
// rdma_destroy_id(3) waits for that.
struct CmEventInfo {
  rdma_cm_event_type type{};
  int status = 0;            // negative errno, or the reason of a reject
  rdma_cm_id* id = nullptr;  // of a CONNECT_REQUEST: the new one, the handler's from now on
  std::string private_data;  // perhaps with zeros behind what the peer sent
};

// Whom rdma_cm_id.context points to, for every id of a CmSource's channel. A connection
// request goes to the handler of the listening id.
class CmHandler {
 public:
  // With the control loop held. May destroy the event's id and this handler.
  virtual void OnCmEvent(const CmEventInfo& event) = 0;

 protected:
  ~CmHandler() = default;
};

// The events of one rdma_cm channel, handed to whom they concern. With the control loop held;
// its ids die before it.
class CmSource final : private FdHandler {
 public:
  // `api` outlives it. Fails where no descriptor is left, or the kernel has no rdma_cm.
  static absl::StatusOr<std::unique_ptr<CmSource>> Create(const VerbsApi& api, EventLoop& control);
  ~CmSource();
  CmSource(const CmSource&) = delete;
  CmSource& operator=(const CmSource&) = delete;

  rdma_event_channel* channel() const { return channel_.get(); }

 private:
  // Events in one turn of the control loop; the descriptor stays readable while there are more.
  static constexpr int kPerTurn = 64;

  CmSource(const VerbsApi& api, EventLoop& control, EventChannel channel)
      : api_(api), control_(control), channel_(std::move(channel)) {}
  void OnReady(uint32_t events) override;

  const VerbsApi& api_;
  EventLoop& control_;
  const EventChannel channel_;
  EpollSource::Watch watch_;
  bool watched_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_CM_SOURCE_H_
