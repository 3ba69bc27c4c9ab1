// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_connector.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/testing/sim/sim_connection.h"
#include "transport/testing/sim/sim_port.h"

namespace farcall {

void SimConnector::Start(EventLoop& loop, SimNetwork& network, BlockPool& pool, const Address& peer,
                         const ConnectOptions& options, Transport::OnConnect done) {
  std::unique_ptr<SimConnector> connector(
      new SimConnector(loop, network, pool, peer, options, std::move(done)));
  SimConnector& self = *connector;
  self.self_ = std::move(connector);
  absl::Status valid = self.Validate();
  valid.ok() ? self.SendConnect() : self.Finish(std::move(valid));
}

SimConnector::SimConnector(EventLoop& loop, SimNetwork& network, BlockPool& pool,
                           const Address& peer, const ConnectOptions& options,
                           Transport::OnConnect done)
    : loop_(loop),
      network_(network),
      pool_(pool),
      peer_(peer),
      options_(options),
      done_(std::move(done)),
      random_(network.NextRandom()),
      timer_([this] { OnTime(); }) {}

absl::Status SimConnector::Validate() const {
  if (options_.timeout <= Duration::zero()) {
    return absl::InvalidArgumentError("the timeout of a connect must be above 0");
  }
  if (peer_.family() == AddressFamily::kNone) {
    return absl::InvalidArgumentError("no address was given");
  }
  return options_.connection.Validate();
}

void SimConnector::SendConnect() {
  const SimOptions& network = network_.options();
  const auto spread = static_cast<uint64_t>((network.max_delay - network.min_delay).count());
  const Duration delay = network.min_delay + Duration(random_.Below(spread + 1));
  silent_ =
      network_.Silent(peer_) || random_.Chance(network.unanswered) || delay >= options_.timeout;
  loop_.SetTimer(timer_, loop_.now() + (silent_ ? options_.timeout : delay));
}

void SimConnector::OnTime() {
  if (silent_) return Finish(absl::DeadlineExceededError("no answer within the timeout"));
  std::shared_ptr<SimListening> listening = network_.Find(peer_);
  if (listening == nullptr || random_.Chance(network_.options().refuse)) {
    return Finish(absl::UnavailableError("Connection refused"));
  }
  const AcceptGate::Pass pass = listening->gate.Enter();
  if (!pass.owns_lock()) return Finish(absl::UnavailableError("Connection refused"));
  Join(std::move(listening));
  Finish(absl::OkStatus());
}

// Makes this end here and now, and the other by a task on a loop of the listener's.
void SimConnector::Join(std::shared_ptr<SimListening> listening) {
  EventLoop& other_loop = listening->loops.Next();
  const auto cut = std::make_shared<std::atomic<bool>>(false);
  const auto mine = std::make_shared<SimPort>(loop_, cut);
  const auto other = std::make_shared<SimPort>(other_loop, cut);
  const Address address = network_.NextClientAddress();
  SimConnection::Parts theirs{
      other, mine,   network_.options(), TestRandom(random_.Next()), listening->options,
      peer_, address};
  other_loop.Post(
      [listening = std::move(listening), parts = std::move(theirs), &pool = pool_]() mutable {
        EventLoop& loop = parts.mine->loop();
        auto connection = std::make_unique<SimConnection>(std::move(parts), pool);
        const AcceptGate::Pass pass = listening->gate.Enter();
        if (pass.owns_lock()) listening->gate.Accept(loop, std::move(connection));
      });
  connection_ = std::make_unique<SimConnection>(
      SimConnection::Parts{mine, other, network_.options(), TestRandom(random_.Next()),
                           options_.connection, address, peer_},
      pool_);
}

void SimConnector::Finish(absl::Status status) {
  loop_.CancelTimer(timer_);
  status_ = std::move(status);
  loop_.Post([self = std::move(self_)] { self->done_(self->Result()); });
}

absl::StatusOr<std::unique_ptr<Connection>> SimConnector::Result() {
  if (status_.ok()) return std::move(connection_);
  return absl::Status(status_.code(), absl::StrCat("cannot connect to ", peer_.ToString(), ": ",
                                                   status_.message()));
}

}  // namespace farcall
