// SPDX-License-Identifier: Apache-2.0
//
// Connections between two hosts, over many turns in an order that follows from a seed. What
// must hold at every step: no receive queue runs dry, no send queue overflows, no end has a
// credit for a receive that is not posted. In the end: all that was to be sent has arrived,
// every send is released, and there is silence.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_FLOW_SIM_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_FLOW_SIM_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/rdma/flow/flow_sim_end_testing.h"

namespace farcall::testing {

struct SimShape {
  uint32_t most_connections = 4;
  bool shared_queues = true;  // in some of the runs
  uint32_t least_window = CreditLimits::kMin;
  uint32_t most_window = 16;
  uint32_t steps = 500;
  DriverFaults faults{};
};

template <typename Flow>
class FlowSim {
 public:
  FlowSim(uint64_t seed, const SimShape& shape) : random_(seed), shape_(shape) {
    const auto connections = static_cast<uint32_t>(1 + random_.Below(shape.most_connections));
    for (int i = 0; i < 2; ++i) {
      SimHost* const host = i == 0 ? &client_ : &server_;
      host->shared = shape.shared_queues && random_.Chance(0.7);
      // As where a device has no shared queues, but with a ledger.
      const bool sole = connections == 1 && random_.Chance(0.4);
      host->ledger.emplace(window_[i],
                           sole ? ReceiveLedger::Use::kSole : ReceiveLedger::Use::kShared);
      // Twice the minimums, since a quarter is kept, and more in some runs.
      host->posted = !host->shared ? 0 : sole ? window_[i] : 8 * connections + Below(64);
      host->ledger->OnPosted(host->posted);
      host->free_blocks = random_.Chance(0.5) ? 0 : Below(64);
    }
    for (uint32_t i = 0; i < connections; ++i) Connect();
  }

  // What went wrong; empty: nothing.
  std::string Run() {
    for (uint32_t step = 0; step < shape_.steps && wrong_.empty(); ++step) {
      const uint64_t which = random_.Below(ends_.size());
      Turn(*ends_[which], *ends_[which ^ 1]);
      CheckCredits(which);
      CheckCredits(which ^ 1);
    }
    Settle();
    if (wrong_.empty()) CheckEnd();
    return wrong_;
  }

  uint64_t messages() const {
    uint64_t sum = 0;
    for (const auto& end : ends_) sum += end->sent();
    return sum;
  }

 private:
  using End = SimEnd<Flow>;

  uint32_t Below(uint64_t end) { return static_cast<uint32_t>(random_.Below(end)); }
  uint32_t Window() {
    return shape_.least_window + Below(shape_.most_window - shape_.least_window + 1);
  }
  uint32_t LedgerWindow() { return std::max(ReceiveLedger::kMinimum, Window()); }

  void Connect() {
    CreditLimits limits[2];
    for (int i = 0; i < 2; ++i) {
      const bool shared = (i == 0 ? client_ : server_).shared;
      limits[i].send_slots = Window();
      limits[i].receive_slots = shared ? window_[i] : Window();
      limits[i].initial_receives = shared ? ReceiveLedger::kMinimum : limits[i].receive_slots;
    }
    for (int i = 0; i < 2; ++i) {
      limits[i].peer_slots = limits[i ^ 1].receive_slots;
      limits[i].initial_credits = limits[i ^ 1].initial_receives;
      SimHost& host = i == 0 ? client_ : server_;
      ends_.push_back(std::make_unique<End>(host, limits[i], shape_.faults));
      if (host.shared) ends_.back()->member = host.ledger->Join().value();
    }
    End& server = *ends_.back();
    server.may_send = false;
    server.opened = true;
    server.echo = random_.Chance(0.5);
    // Stops to read while much waits to be written, as a server does.
    drains_.push_back(random_.Chance(0.5));
  }

  void Turn(End& end, End& peer) {
    const bool server = &end.host == &server_;
    switch (random_.Below(10)) {
      case 0:
        if (!end.echo) end.Produce(random_.Size(24));
        break;
      case 1:
        end.SetPaused(!server || random_.Chance(0.3) ? random_.Chance(0.3) : end.paused);
        break;
      case 2:
        end.Repost(1 + random_.Below(4));
        break;
      case 3:
        end.Release(1 + random_.Below(4));
        break;
      case 4:
      case 5:
        for (uint64_t n = random_.Size(8); n > 0; --n) end.Deliver(peer);
        break;
      case 6:
        end.PollSends();
        break;
      default:
        Work(end);
    }
  }

  // One turn of the loop of one connection, or a part of it.
  void Work(End& end) {
    end.PollReceives(random_.Size(16), random_.Chance(0.5));
    if (random_.Chance(0.7)) end.PollSends();
    if (random_.Chance(0.7)) end.Repost(random_.Size(16));
    Give(end.host);
    end.Grant();
    end.Flush(random_.Size(16));
  }

  void Give(SimHost& host) {
    if (!host.shared) return;
    while (const auto starved = host.ledger->NextStarved()) {
      for (const auto& end : ends_) {
        if (&end->host == &host && *end->member == *starved) end->Grant();
      }
    }
  }

  // No more is produced, everybody reads: all must arrive, and then nothing may move.
  void Settle() {
    uint64_t before = ~uint64_t{0};
    for (int quiet = 0, round = 0; quiet < 3 && wrong_.empty(); ++round) {
      if (round > kMaxRounds) return server_.Expect(false, "they chatter for ever");
      for (size_t i = 0; i < ends_.size(); ++i) {
        End& end = *ends_[i];
        // A server reads only when all it wrote has left, in some runs.
        const bool drains = (i & 1) != 0 && drains_[i / 2];
        end.SetPaused(drains && end.to_send > 0);
        end.PollReceives(~uint64_t{0}, false);
        end.PollSends();
        end.Release(~uint64_t{0});
        end.Repost(~uint64_t{0});
        Give(end.host);
        end.Grant();
        end.Flush(~uint64_t{0});
        while (end.Deliver(*ends_[i ^ 1])) {
        }
        CheckCredits(i);
        CheckCredits(i ^ 1);
      }
      const uint64_t now = messages();
      quiet = now == before ? quiet + 1 : 0;
      before = now;
    }
  }

  // That of end `which` to send, and the receives of its peer.
  void CheckCredits(size_t which) {
    End& end = *ends_[which];
    End& peer = *ends_[which ^ 1];
    SimHost& host = peer.host;
    const uint64_t usable = end.flow.credits() + end.wire.size() + peer.arrived.size();
    host.Expect(usable <= peer.flow.outstanding(), "a credit came from nowhere");
    if (!host.shared) {
      host.Expect(usable <= peer.own_posted + peer.arrived.size(), "a credit has no receive");
      return;
    }
    host.Expect(host.ledger->outstanding() <= host.ledger->posted(),
                "more is given than is posted");
    host.Expect(host.ledger->posted() == host.posted + Unpolled(host),
                "the ledger does not know what is posted");
    if (shape_.faults.keeps_bare_receives) return;
    host.Expect(peer.flow.outstanding() == host.ledger->outstanding(*peer.member),
                "ledger and flow do not agree");
  }

  // Receives that were used, and not reported to the ledger yet.
  uint32_t Unpolled(const SimHost& host) const {
    uint64_t sum = 0;
    for (const auto& end : ends_) {
      if (&end->host == &host) sum += end->arrived.size();
    }
    return static_cast<uint32_t>(sum);
  }

  void CheckEnd() {
    uint64_t data = 0, bare = 0, windows = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      End& end = *ends_[i];
      end.host.Expect(end.to_send == 0, "they stand still with messages to send");
      end.host.Expect(end.wire.empty() && end.arrived.empty(), "a message was left");
      end.host.Expect(end.flow.unfinished() == 0 && end.send_queue.empty(),
                      "a send was never released");
      data += end.data_sent + (i % 2 == 0 ? 1 : 0);  // the first one of each connection
      bare += end.bare_sent;
      windows += end.limits.receive_slots;
    }
    server_.Expect(bare <= data + windows, "there were more bare counts than there may be");
  }

  static constexpr int kMaxRounds = 20000;
  TestRandom random_;
  const SimShape shape_;
  // What a connection is given at most by the ledger of each host.
  const uint32_t window_[2] = {LedgerWindow(), LedgerWindow()};
  std::string wrong_;
  SimHost client_{.wrong = wrong_}, server_{.wrong = wrong_};
  std::vector<std::unique_ptr<End>> ends_;  // client, server, client, server, ...
  std::vector<bool> drains_;
};

}  // namespace farcall::testing

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_FLOW_SIM_TESTING_H_
