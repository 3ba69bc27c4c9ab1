// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_BRPC_SET_UP_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_BRPC_SET_UP_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/brpc_end.h"
#include "transport/rdma/cm/brpc_endpoint.h"
#include "transport/rdma/host/queue_pair.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/upgrade.h"

namespace farcall {

// One queue pair to brpc, from the choice of a port until it is open (BrpcPair). How long it may
// take, who asked knows, and gives it up then; those of servers are limited in number by the host.
class BrpcSetUp final : public std::enable_shared_from_this<BrpcSetUp>,
                        public RdmaHost::Attempt,
                        private QueuePair::SetUp {
 public:
  // --- With the data loop held.

  static std::shared_ptr<BrpcSetUp> Start(RdmaHost& host, EventLoop& control, EventLoop& loop,
                                          const BrpcWish& wish, UpgradeTransport::OnBrpcEnd made);
  ~BrpcSetUp() override;

  void Join(const BrpcEnd& peer, BrpcPair::OnJoin done);
  void Open(Transport::OnConnect done);
  void EndOfPeer();
  // It is not waited for any more.
  void GiveUp();

 private:
  BrpcSetUp(RdmaHost& host, EventLoop& control, EventLoop& loop, const BrpcWish& wish,
            UpgradeTransport::OnBrpcEnd made);

  // --- With the control loop held.

  void Begin();
  absl::Status MakePair();
  absl::Status JoinNow(const BrpcEnd& peer);
  void OpenNow();
  void OnEnrolled(const absl::Status& status) override;
  void OnCmEvent(const CmEventInfo&) override {}
  void OnLost(const absl::Status& why) override;
  void Cancel() override { Fail(absl::CancelledError("given up")); }
  // Calls those who wait, and those who ask later.
  void Fail(const absl::Status& why);
  void Complete(const absl::Status& why);

  RdmaHost& host_;
  EventLoop& control_;
  EventLoop& loop_;
  const BrpcWish wish_;

  // With the data loop held; null: not asked for, called, or given up.
  UpgradeTransport::OnBrpcEnd made_;
  BrpcPair::OnJoin joined_;
  Transport::OnConnect opened_;

  // With the control loop held.
  absl::Status error_;  // it is over
  BrpcEnd own_;
  std::unique_ptr<Endpoint> end_;     // until pair_ has it
  BrpcEndpoint* endpoint_ = nullptr;  // the same, until it is open
  std::shared_ptr<QueuePair> pair_;   // until it is open
  std::weak_ptr<QueuePair> open_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_BRPC_SET_UP_H_
