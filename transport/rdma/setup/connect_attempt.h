// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_CONNECT_ATTEMPT_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_CONNECT_ATTEMPT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/rdma/cm/cm_source.h"
#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/cm/set_up_line.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/rdma/host/queue_pair.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/setup/ways.h"
#include "transport/transport.h"
#include "transport/upgrade.h"

namespace farcall {

// One attempt to connect: by the first of the ways to some addresses that works (ways.h). The time
// that is left is shared by the ways that are left. Of a way:
//
//   kResolvingAddress --ADDR_RESOLVED--> kResolvingRoute --ROUTE_RESOLVED--> kConnecting
//     --ESTABLISHED--> the queue pair is its loop's
//
// What else rdma_cm tells of a connection, a call that fails and the end of the time are the end of
// the way.
class ConnectAttempt final : public std::enable_shared_from_this<ConnectAttempt>,
                             public RdmaHost::Attempt,
                             private QueuePair::SetUp {
 public:
  // With `loop` held. `done` is called from its mailbox, once, unless the attempt was given up.
  static std::shared_ptr<ConnectAttempt> Start(RdmaHost& host, EventLoop& control, EventLoop& loop,
                                               std::vector<UpgradeAddress> addresses,
                                               const UpgradePass& pass, OfferConnectOptions options,
                                               UpgradeTransport::SendSetUp send,
                                               Transport::OnConnect done);
  ~ConnectAttempt() override;

  // With its loop held: it is not waited for any more.
  void GiveUp();
  // The same: UpgradeTicket::OnSetUp.
  void OnSetUp(absl::string_view message) { line_->Receive(message); }

 private:
  enum class State : uint8_t { kResolvingAddress, kResolvingRoute, kConnecting, kOver };

  ConnectAttempt(RdmaHost& host, EventLoop& control, EventLoop& loop,
                 std::vector<UpgradeAddress> addresses, const UpgradePass& pass,
                 OfferConnectOptions options, UpgradeTransport::SendSetUp send,
                 Transport::OnConnect done);

  // With the control loop held.
  void Begin();
  void OnTurn() override;
  void OnTime();
  void TryWay();
  absl::Status WhyNoWay() const;
  absl::Status Resolve();
  absl::Status TakePort(const LocalPort& local, const FabricPort& to);
  void OnCmEvent(const CmEventInfo& cm_event) override;
  void OnEnrolled(const absl::Status& status) override;
  void OnLost(const absl::Status& why) override;
  void Cancel() override;
  void GoOn(const absl::Status& step);
  absl::Status TakeAnswer(const std::string& private_data);
  absl::Status WhyRejected(const CmEventInfo& rejected) const;
  absl::Status Describe(const CmEventInfo& cm_event) const;
  absl::Status ResolveRoute();
  absl::Status MakePair();
  int Connect();
  void Open();
  bool TryOtherPort();
  bool TryOtherSource();
  bool StartAgain();
  void Blame();
  void Fail(WhyNotRdma why, const absl::Status& detail);
  void TryNextWay(WhyNotRdma why, const absl::Status& detail);
  void Release();
  void Finish(const absl::Status& status);
  void Complete(const absl::Status& status);
  const Way& way() const { return ways_[next_]; }
  const UpgradeAddress& place() const { return addresses_[way().place]; }
  const Address& peer() const { return place().address; }
  // The first release has none.
  bool asks_for_answer() const { return pass_.answer != UpgradeToken{}; }

  RdmaHost& host_;
  EventLoop& control_;
  EventLoop& loop_;
  const std::vector<UpgradeAddress> addresses_;
  const UpgradePass pass_;
  const OfferConnectOptions options_;
  const TimePoint deadline_;
  const std::shared_ptr<SetUpLine> line_;

  // With the data loop held.
  Transport::OnConnect done_;  // null: called, or given up

  // With the control loop held.
  std::vector<Way> ways_;  // once its turn has come
  size_t next_ = 0;        // of them
  PortHold hold_;          // of the way, until pair_ has one
  bool in_line_ = false;   // its turn has not come
  State state_ = State::kResolvingAddress;
  rdma_cm_id* id_ = nullptr;         // of end_ or pair_, where that is by rdma_cm
  std::unique_ptr<Endpoint> end_;    // until pair_ has it
  std::shared_ptr<QueuePair> pair_;  // until it is open
  std::optional<ReceiveTerms> peer_terms_;
  int port_tries_ = 0;            // of this way, whose source port TCP had
  std::vector<Address> sources_;  // to try, where the kernel's choice is an excluded device
  std::optional<Address> source_;
  bool asked_for_sources_ = false;
  absl::Status error_;  // of the last way
  Timer timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_CONNECT_ATTEMPT_H_
