// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_HOST_DEVICE_USE_H_
#define FARCALL_TRANSPORT_RDMA_HOST_DEVICE_USE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/channel/device_poller.h"
#include "transport/rdma/device/async_source.h"
#include "transport/rdma/device/device.h"
#include "transport/rdma/device/rdma_parts.h"
#include "transport/rdma/host/queue_pair.h"
#include "transport/rdma_status.h"

namespace farcall {

// All that was created with one device: a poller for each data loop, and queue pairs. It ends
// when the device goes away, or the transport: first the queue pairs, then the pollers.
// With the control loop held.
class DeviceUse {
 public:
  // `device` lives until `over` was called, and must be notified (OnRemoval) when it goes away;
  // `over` is called from the mailbox, once, after End, and may destroy this. `changed`: the
  // device said that its ports or addresses are not what they were.
  DeviceUse(const RdmaParts& parts, RdmaDevice& device, absl::AnyInvocable<void()> changed,
            absl::AnyInvocable<void()> over);
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;
  ~DeviceUse();

  RdmaDevice& device() const { return device_; }
  // No longer to be used.
  bool ending() const { return ending_; }
  // It has no queue pair of which rdma_cm would tell that the device was removed.
  bool idle() const;

  // For a connection of `loop`. `end` is of the device, and is moved from if this succeeds; else
  // the error is a reason (why_not_rdma.h). Milliseconds, where it is the loop's first.
  absl::StatusOr<std::shared_ptr<QueuePair>> CreatePair(EventLoop& loop,
                                                        std::unique_ptr<Endpoint>& end,
                                                        QueuePair::SetUp& set_up,
                                                        PairWire wire = PairWire::kOwn);

  std::vector<EventLoop*> Loops() const;

  // Adds what it counted, and what there is now.
  void AddTo(RdmaDeviceStatus& status) const;

  // The device went away: connections break, nothing is waited for.
  void OnRemoval();
  // Does not wait for events of the device: connections get `why`.
  void End(QueuePair::Ending how, const absl::Status& why);

 private:
  // Made at first need: milliseconds.
  absl::StatusOr<std::shared_ptr<DevicePoller>> PollerOf(EventLoop& loop);
  // Whether its queue pairs have memory windows; not any more once these have failed.
  ReadsWhy reads() const;
  void GiveUpWindows(absl::string_view why);
  void OnReferred(bool read);
  void Remove(QueuePair& pair);
  void OnEvent(const AsyncSource::Event& event);
  bool HasQueue(const void* queue) const;
  std::shared_ptr<QueuePair> Find(uint32_t number) const;
  void EndPollers();
  void GiveReceives(DevicePoller& poller, uint32_t receives);
  void EndIfEmpty();

  static constexpr int kMaxNeverRead = 3;

  const RdmaParts& parts_;
  RdmaDevice& device_;
  absl::AnyInvocable<void()> changed_;
  absl::AnyInvocable<void()> over_;
  std::unique_ptr<AsyncSource> events_;
  absl::flat_hash_map<EventLoop*, std::shared_ptr<DevicePoller>> pollers_;
  absl::flat_hash_map<QueuePair*, std::shared_ptr<QueuePair>> pairs_;  // until they are forgotten
  uint64_t pairs_ever_ = 0;
  bool lost_ = false;  // it went away, or failed
  bool windows_given_up_ = false;
  int never_read_ =
      0;  // queue pairs in succession that ended before a reference of theirs was read
  std::array<uint64_t, kAsyncEventTypes> events_seen_{};
  RdmaTraffic ended_traffic_;  // of pollers that are gone
  size_t open_pollers_ = 0;    // whose loops still poll them
  bool ending_ = false;
  bool pollers_ending_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_HOST_DEVICE_USE_H_
