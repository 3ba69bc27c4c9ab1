// SPDX-License-Identifier: Apache-2.0
//
// One end of a simulated RDMA connection, and the host that it is on: what a driver of
// CreditFlow and ReceiveLedger does, over a device that only counts.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_FLOW_SIM_END_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_FLOW_SIM_END_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "transport/rdma/flow/credit_flow.h"
#include "transport/rdma/flow/receive_ledger.h"
#include "transport/testing/test_random.h"

namespace farcall::testing {

// What the driver of the flow may do wrong.
struct DriverFaults {
  bool keeps_bare_receives = false;  // treats the receive of a bare count as any other
  bool grants_before_posting = false;
};

struct SimMessage {
  uint32_t count = 0;
  bool bare = false;
};

struct SimHost {
  // Without a shared queue each end has its own, and no ledger.
  bool shared = true;
  uint32_t posted = 0;       // in the shared queue
  uint32_t to_post = 0;      // that were in it and wait for a block
  uint32_t free_blocks = 0;  // of the pool
  std::optional<ReceiveLedger> ledger{};
  std::string& wrong;  // the first thing that went wrong; empty: nothing

  void Expect(bool holds, const char* what) {
    if (!holds && wrong.empty()) wrong = what;
  }
};

template <typename Flow>
struct SimEnd {
  struct Sent {
    uint32_t seq = 0;
    bool signaled = false;
    bool arrived = false;
    bool pins_block = false;  // an echo, which is sent from the block that it came in
  };

  SimEnd(SimHost& on, const CreditLimits& limits_of_it, const DriverFaults& driver_faults)
      : host(on), limits(limits_of_it), faults(driver_faults), flow(limits_of_it) {
    if (!host.shared) own_posted = limits.initial_receives;
  }

  // --- The driver ---
  void Produce(uint64_t messages) { to_send += messages; }

  // The end of a loop's turn.
  void Flush(uint64_t most) {
    if (!may_send) return;
    bool sent_any = false;
    for (; most > 0 && flow.Budget() > 0 && (to_send > 0 || !opened); --most) {
      const bool bare = !opened;
      opened = true;
      const bool last = most == 1 || flow.Budget() == 1 || to_send <= (bare ? 0u : 1u);
      const bool pins = !bare && echoes > 0;
      if (pins) --echoes;
      Post(flow.Send(last), bare, pins);
      if (!bare) --to_send, ++data_sent;
      sent_any = true;
    }
    if (sent_any) return;
    if (const auto plan = flow.BareCount()) {
      ++bare_sent;
      Post(*plan, true, false);
    }
  }

  void PollSends() {
    for (; !send_completions.empty(); send_completions.pop_front()) {
      const uint32_t seq = send_completions.front();
      flow.OnCompleted(seq);
      for (bool found = false; !found && !send_queue.empty(); send_queue.pop_front()) {
        found = send_queue.front().seq == seq;
        if (send_queue.front().pins_block) ++host.free_blocks;
      }
    }
  }

  void PollReceives(uint64_t most, bool copy_out) {
    for (; most > 0 && !arrived.empty(); --most) {
      const SimMessage message = arrived.front();
      arrived.pop_front();
      may_send = opened = true;
      host.Expect(flow.OnMessage(message.count).ok(), "a good message was refused");
      if (message.bare && !faults.keeps_bare_receives) {
        ++queue();
        flow.OnGranted(1);
        continue;
      }
      ++data_received;
      if (copy_out || message.bare) {
        ++host.free_blocks;
      } else {
        ++held;
      }
      ++waiting_queue();
      if (host.shared) host.ledger->OnConsumed(*member);
      if (faults.grants_before_posting) Grant();
    }
  }

  // The handler is done with some of what it got.
  void Release(uint64_t most) {
    if (paused) return;
    for (; most > 0 && held > 0; --most, --held) {
      if (echo) {
        ++echoes, ++to_send;
      } else {
        ++host.free_blocks;
      }
    }
  }

  // Posts receives again as far as there are blocks; a paused reader's own queue is left.
  void Repost(uint64_t most) {
    if (paused && !host.shared) return;
    uint32_t posted_again = 0;
    for (; most > 0 && waiting_queue() > 0 && host.free_blocks > 0; --most, ++posted_again) {
      --waiting_queue(), --host.free_blocks;
      ++queue();
    }
    if (host.shared) {
      host.ledger->OnPosted(posted_again);
    } else if (!faults.grants_before_posting) {
      flow.OnGranted(posted_again);
    }
  }

  void Grant() {
    if (host.shared) flow.OnGranted(host.ledger->Grant(*member));
    if (!host.shared && faults.grants_before_posting) flow.OnGranted(1);
  }

  void SetPaused(bool pause) {
    if (pause == paused) return;
    paused = pause;
    if (!host.shared) return;
    if (paused) {
      host.ledger->Pause(*member);
    } else {
      host.ledger->Resume(*member);
      Grant();
    }
  }

  // --- The device ---
  void Post(const SendPlan& plan, bool bare, bool pins) {
    send_queue.push_back({.seq = plan.seq, .signaled = plan.signaled, .pins_block = pins});
    host.Expect(send_queue.size() <= limits.send_slots, "the send queue overflowed");
    wire.push_back({.count = plan.count, .bare = bare});
    unsignaled = plan.signaled ? 0 : unsignaled + 1;
    host.Expect(unsignaled < std::max(1u, limits.send_slots / 4) || unsignaled == 0,
                "a quarter of the send queue is without a signal");
  }

  // The next message of the wire arrives at `peer`, and the device knows that it did.
  bool Deliver(SimEnd& peer) {
    if (wire.empty()) return false;
    if (peer.queue() == 0) {
      peer.host.Expect(false, "a receive queue ran dry");
      return false;
    }
    --peer.queue();
    peer.arrived.push_back(wire.front());
    wire.pop_front();
    for (Sent& sent : send_queue) {
      if (sent.arrived) continue;
      sent.arrived = true;
      if (sent.signaled) send_completions.push_back(sent.seq);
      break;
    }
    return true;
  }

  // Receives of the queue, and those that wait to be in it again.
  uint32_t& queue() { return host.shared ? host.posted : own_posted; }
  uint32_t& waiting_queue() { return host.shared ? host.to_post : own_to_post; }
  uint64_t sent() const { return data_sent + bare_sent; }

  SimHost& host;
  const CreditLimits limits;
  const DriverFaults faults;
  Flow flow;
  std::optional<ReceiveLedger::Member> member;
  bool may_send = true;  // the accepting end may not at first
  bool opened = false;   // the connecting end has sent its first, bare message
  bool paused = false;
  bool echo = false;
  uint64_t to_send = 0;
  uint64_t echoes = 0;  // of them, whose block is pinned
  uint64_t held = 0;    // blocks that the handler has
  uint64_t data_sent = 0, bare_sent = 0, data_received = 0;
  uint32_t unsignaled = 0;
  uint32_t own_posted = 0, own_to_post = 0;
  std::deque<SimMessage> wire;     // on the way to the peer
  std::deque<SimMessage> arrived;  // not polled yet
  std::deque<Sent> send_queue;
  std::deque<uint32_t> send_completions;
};

}  // namespace farcall::testing

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_FLOW_SIM_END_TESTING_H_
