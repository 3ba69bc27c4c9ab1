// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_SIM_AWAIT_H_
#define FARCALL_TRANSPORT_LINK_TESTING_SIM_AWAIT_H_

#include <memory>

#include "transport/link/testing/sim_upgrade.h"
#include "transport/loop/event_loop.h"
#include "transport/testing/sim/sim_connection.h"

namespace farcall {

// Between zero and the step of `fabric`.
Duration StepOf(const SimFabric& fabric, TestRandom& random);

// A server's end of an upgrade in a SimFabric. With its loop held.
class SimAwait final : public UpgradeTicket {
 public:
  SimAwait(EventLoop& loop, SimFabric& fabric, BlockPool& pool, const UpgradePass& pass,
           const ConnectionOptions& options, UpgradeTransport::OnOffer offered,
           UpgradeTransport::OnAdmit admitted);
  ~SimAwait() override;

  const ConnectionOptions& options() const { return options_; }
  BlockPool& pool() { return pool_; }
  // `connection` is admitted, after a while.
  void Admit(std::unique_ptr<Connection> connection);

 private:
  void OnTime();

  EventLoop& loop_;
  SimFabric& fabric_;
  BlockPool& pool_;
  const UpgradePass pass_;
  const ConnectionOptions options_;
  UpgradeTransport::OnOffer offered_;  // empty: it was called
  UpgradeTransport::OnAdmit admitted_;
  TestRandom random_;
  std::unique_ptr<Connection> connection_;
  const std::shared_ptr<SimAwait*> alive_ = std::make_shared<SimAwait*>(this);
  Timer timer_;
};

// A client's end.
class SimConnectAttempt final : public UpgradeTicket {
 public:
  SimConnectAttempt(EventLoop& loop, SimFabric& fabric, BlockPool& pool,
                    std::vector<UpgradeAddress> addresses, const UpgradePass& pass,
                    const OfferConnectOptions& options, Transport::OnConnect done);
  ~SimConnectAttempt() override;

 private:
  void OnTime();
  void Join(SimFabric::Entry entry, const Address& peer);
  void Finish(absl::StatusOr<std::unique_ptr<Connection>> result);

  EventLoop& loop_;
  SimFabric& fabric_;
  BlockPool& pool_;
  std::vector<UpgradeAddress> addresses_;
  size_t tried_ = 0;
  const UpgradePass pass_;
  const OfferConnectOptions options_;
  const TimePoint deadline_;
  Transport::OnConnect done_;
  TestRandom random_;
  bool unanswered_ = false;
  std::unique_ptr<Connection> connection_;
  Timer timer_;
};

// Who watches; goes with its ticket.
struct SimWatch {
  EventLoop& loop;
  UpgradeTransport::OnCome come;
};
class SimWatchTicket final : public UpgradeTicket {
 public:
  explicit SimWatchTicket(std::shared_ptr<SimWatch> watch) : watch_(std::move(watch)) {}

 private:
  const std::shared_ptr<SimWatch> watch_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_SIM_AWAIT_H_
