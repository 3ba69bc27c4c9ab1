// SPDX-License-Identifier: Apache-2.0
//
// QueuePair: a queue pair with its endpoint, from its creation until nothing is left of it.
//
//   setting up --Open--> open --Retire--> stopping --> destroyed --> forgotten
//        |                                  ^
//        +--------------Retire--------------+
//
// Stopping: it is disconnected and put into error, the data loop posts nothing any more, and
// waits (kDrainTime at most) until the device has given up the receives that it took from a
// shared queue (IBV_EVENT_QP_LAST_WQE_REACHED: without it they are lost to the queue) and what
// was posted has completed. Destroyed: the device reads and writes nothing more for it.
// Forgotten: the poller has seen its last completion, and its buffers are free. Until then its
// owner (DeviceUse) keeps it alive.

#ifndef FARCALL_TRANSPORT_RDMA_HOST_QUEUE_PAIR_H_
#define FARCALL_TRANSPORT_RDMA_HOST_QUEUE_PAIR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/brpc_end.h"
#include "transport/connection_info.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/channel/brpc_channel.h"
#include "transport/rdma/channel/device_poller.h"
#include "transport/rdma/channel/message_channel.h"
#include "transport/rdma/channel/pair_channel.h"
#include "transport/rdma/cm/cm_source.h"
#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/device/device.h"
#include "transport/rdma/device/port_counts.h"
#include "transport/rdma/device/rdma_parts.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/rdma/host/queue_pair_creation.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/transport.h"

namespace farcall {

// All with the control loop held.
class QueuePair final : public std::enable_shared_from_this<QueuePair>, private CmHandler {
 public:
  // Who sets it up: dials or accepts. Until Open it gets what rdma_cm says.
  class SetUp : public CmHandler {
   public:
    // It may be connected or accepted now; or why not.
    virtual void OnEnrolled(const absl::Status& status) = 0;
    // Its owner did not retire it: its device is gone.
    virtual void OnLost(const absl::Status& why) = 0;

   protected:
    ~SetUp() = default;
  };
  // Callbacks of its owner.
  struct Events {
    // By rdma_cm. It may be retired by this.
    absl::AnyInvocable<void()> device_removed;
    // The device has failed to bind one of its memory windows.
    absl::AnyInvocable<void()> windows_failed;
    // It ends, and has sent references; whether its peer has read any.
    absl::AnyInvocable<void(bool read)> referred;
    // The last. The owner may let go of it.
    absl::AnyInvocable<void(QueuePair&)> forgotten;
  };
  enum class Ending : uint8_t {
    kDrain,  // what was posted may still complete
    kNow,    // its device is gone
  };
  // With the data loop held.
  using Deliver = absl::AnyInvocable<void(std::unique_ptr<Connection>)>;

  // `created`: for `end` and `poller`. What is passed by reference outlives it; `set_up` only needs
  // to live until Open or OnLost.
  QueuePair(const RdmaParts& parts, const RdmaDevice& device, std::shared_ptr<DevicePoller> poller,
            std::unique_ptr<Endpoint> end, const CreatedQueuePair& created, SetUp& set_up,
            Events events);
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;
  ~QueuePair();

  // Until it is destroyed.
  Endpoint& end() const { return *end_; }
  bool hears_removal() const { return end_ != nullptr && end_->hears_removal(); }
  uint32_t number() const { return channel_->number(); }
  // Of the device; 0 once it is destroyed.
  int port() const { return end_ == nullptr ? 0 : end_->port(); }
  // What the peer gets.
  ReceiveTerms terms() const;
  uint32_t send_slots() const { return channel_->limits().send_slots; }

  // Makes it known to its poller, where its receives are posted; OnEnrolled follows. `peer`: of the
  // accepting side, whose peer may send before ESTABLISHED is heard.
  void Enroll(std::optional<ReceiveTerms> peer, PeerTrust trust = PeerTrust::kTrusted);
  // It is established. Gives the Connection to the data loop; the set-up hears no more of it.
  // `peer`: of the connecting side.
  void Open(std::optional<ReceiveTerms> peer, const ConnectionOptions& options, ConnectionInfo info,
            Deliver deliver);
  // --- To brpc, which has no ReceiveTerms.

  // Before the peer gets leave to send: by its terms, and those that it got.
  void MeetBrpc(const BrpcEnd& own, const BrpcEnd& peer);
  // Its TCP connection has ended. What had come before is delivered first.
  void EndOfBrpc();

  // Before Open: `unheard` is called if it ends before any message has come or reached the peer.
  // Where no packet carried the set-up nothing else tells that none arrives.
  void WhenUnheard(absl::AnyInvocable<void()> unheard) { unheard_ = std::move(unheard); }
  // Ends it; its connection, if there is one, gets `why`. Once is enough.
  void Retire(Ending ending, const absl::Status& why);
  // IBV_EVENT_QP_LAST_WQE_REACHED: it takes no more receives from a shared queue.
  void OnLastReceive();
  // An error that only its data loop has to hear of.
  void Break(const absl::Status& why);

 private:
  enum class State : uint8_t { kSettingUp, kOpen, kStopping, kDestroyed };
  struct ReferencesSeen {
    bool windows_failed = false;
    bool sent = false;
    bool read = false;  // by the peer
  };
  static constexpr Duration kDrainTime = std::chrono::seconds(1);

  absl::Status FillReceives();
  void ReportEnrolled(const absl::Status& enrolled);
  void MakeConnection(const ConnectionOptions& options, ConnectionInfo info, Deliver deliver);
  std::vector<ibv_mw*> MakeWindows(const ReceiveTerms& peer);
  void OnCmEvent(const CmEventInfo& event) override;
  void SetRnrTimer();
  bool MayHoldShared() const;
  ReferencesSeen LookAtReferences() const;
  void Drain();
  void DestroyIfOver();

  const RdmaParts& parts_;
  const RdmaDevice& device_;
  const std::shared_ptr<DevicePoller> poller_;
  std::unique_ptr<Endpoint> end_;
  std::vector<MemoryWindow> windows_;
  const std::shared_ptr<MessageChannel> messages_;  // one of the two
  const std::shared_ptr<BrpcChannel> brpc_;
  const std::shared_ptr<PairChannel> channel_;  // the same
  SetUp* set_up_;
  Events events_;
  absl::AnyInvocable<void()> unheard_;
  State state_ = State::kSettingUp;
  PortHold hold_;              // until it is retired
  bool takes_shared_ = false;  // holds receives of a shared queue until it says it does not
  bool silent_ = false;        // which it has not, in time
  bool stopped_ = false;       // the data loop posts nothing any more
  bool drained_ = false;       // nor waits for a completion
  ReferencesSeen references_;  // when the data loop last looked
  Timer drain_timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_HOST_QUEUE_PAIR_H_
