// SPDX-License-Identifier: Apache-2.0
//
// Two ends of a queue pair on brpc's wire, over many turns in an order that follows from a seed.
// The device of each completes what it has delivered, whether or not the other end has looked;
// programs sleep until a message is solicited. What must hold at every step: no message finds no
// receive, no send queue has more than it holds, no end takes the other one for a liar. In the end:
// all has arrived, once and in order, and every send is released.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_BRPC_SIM_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_BRPC_SIM_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "transport/brpc_end.h"
#include "transport/rdma/flow/brpc_credits.h"
#include "transport/testing/test_random.h"

namespace farcall::testing {

class BrpcSim {
 public:
  explicit BrpcSim(uint64_t seed, uint16_t most_slots = 40)
      : random_(seed), client_(*this, Slots(most_slots)), server_(*this, Slots(most_slots)) {
    client_.Join(server_);
    server_.Join(client_);
    server_.may_send = false;
  }

  // What went wrong; empty: nothing.
  std::string Run(int steps = 600) {
    for (int step = 0; step < steps && wrong_.empty(); ++step) {
      const bool first = random_.Chance(0.5);
      Turn(first ? client_ : server_);
    }
    Settle();
    for (End* const end : {&client_, &server_}) {
      Expect(end->to_send == 0, "it stands still with messages to send");
      Expect(end->wire.empty() && end->arrived.empty(), "a message was left");
      Expect(end->in_queue == 0, "a send was never released");
      Expect(end->credits->free_slots() == end->credits->window(), "a slot was lost");
      Expect(end->credits->credits() + end->peer->credits->unreported() == end->credits->window(),
             "a credit was lost, or came from nowhere");
    }
    return wrong_;
  }
  uint64_t messages() const { return client_.next_out + server_.next_out; }
  uint64_t bare() const { return client_.bare_sent + server_.bare_sent; }

 private:
  struct Message {
    uint64_t number = 0;  // among those with bytes; they are those of the stream
    uint32_t bytes = 0;
    BrpcSend plan;
  };

  struct End {
    End(BrpcSim& sim, const BrpcEnd& end_of) : world(sim), own(end_of), posted(own.receive_slots) {}

    void Join(End& other) {
      peer = &other;
      credits.emplace(own, other.own);
    }

    // One turn of its loop: at most so many messages leave.
    void Flush(uint64_t most) {
      if (!may_send) return;
      for (; most > 0 && to_send > 0 && credits->Budget() > 0; --most) {
        --to_send;
        const auto bytes = static_cast<uint32_t>(world.random_.Size(large ? 300'000 : 900));
        Put({next_out++, bytes, credits->Send(bytes, to_send == 0 || most == 1)});
      }
      if (!credits->BareIsDue()) return;
      ++bare_sent;
      Put({0, 0, credits->SendBare()});
    }
    void Put(const Message& message) {
      wire.push_back(message);
      ++in_queue;
      (message.bytes > 0 ? data_in_queue : bare_in_queue) += 1;
      world.Expect(in_queue <= own.send_slots, "the send queue has no room");
      world.Expect(data_in_queue <= credits->window(), "the window is larger than agreed");
      world.Expect(bare_in_queue <= BrpcEnd::kBareSlots, "a fourth bare report");
    }
    // The device.
    bool Deliver() {
      if (wire.empty()) return false;
      const Message message = wire.front();
      wire.pop_front();
      world.Expect(peer->posted > 0, "a message found no receive");
      --peer->posted;
      peer->arrived.push_back(message);
      if (message.plan.solicited) peer->awake = true;
      done.push_back(message);
      return true;
    }
    // Of messages that are delivered, but a completion comes for some alone.
    void PollSends() {
      while (!done.empty()) {
        const auto signaled = std::find_if(done.begin(), done.end(),
                                           [](const Message& one) { return one.plan.signaled; });
        if (signaled == done.end()) return;
        uint32_t freed = 0;
        for (auto one = done.begin(); one != signaled + 1; ++one, ++freed) {
          --in_queue;
          (one->bytes > 0 ? data_in_queue : bare_in_queue) -= 1;
        }
        world.Expect(credits->OnCompleted(signaled->plan.seq) == freed, "buffers are mixed up");
        done.erase(done.begin(), signaled + 1);
      }
    }
    void PollReceives(uint64_t most) {
      for (; awake && most > 0 && !arrived.empty(); --most) {
        const Message message = arrived.front();
        arrived.pop_front();
        const bool good = credits->OnMessage(message.bytes, message.plan.report).ok();
        world.Expect(good, "it takes the peer for a liar");
        if (!good) return;
        if (message.bytes == 0) {
          // Its block is empty: it is posted again before anything else happens.
          ++posted;
          continue;
        }
        world.Expect(message.number == next_in++, "a message came twice, late or not at all");
        ++taken;
      }
      if (arrived.empty()) awake = false;
    }
    void Repost(uint64_t most) {
      const uint64_t some = std::min<uint64_t>(most, taken);
      taken -= some;
      posted += some;
      untold += some;
      if (paused) return;
      credits->OnPosted(static_cast<uint32_t>(untold));
      untold = 0;
    }

    BrpcSim& world;
    const BrpcEnd own;
    End* peer = nullptr;
    std::optional<BrpcCredits> credits;
    bool may_send = true;
    bool paused = false;
    bool large = false;
    bool awake = false;
    uint64_t to_send = 0;
    uint64_t next_out = 0, next_in = 0, bare_sent = 0;
    uint64_t posted;      // receives
    uint64_t taken = 0;   // whose blocks are in use
    uint64_t untold = 0;  // posted again while paused
    uint64_t in_queue = 0, data_in_queue = 0, bare_in_queue = 0;
    std::deque<Message> wire, arrived, done;
  };

  BrpcEnd Slots(uint16_t most) {
    const auto slots = [&] {
      const uint64_t more = most - BrpcEnd::kMinSlots + 1;
      // Both at the least, in many runs.
      return static_cast<uint16_t>(BrpcEnd::kMinSlots +
                                   (random_.Chance(0.4) ? 0 : random_.Below(more)));
    };
    BrpcEnd end;
    end.block_bytes = BrpcEnd::kMinBlock;
    end.send_slots = slots();
    end.receive_slots = slots();
    return end;
  }

  void Turn(End& end) {
    switch (random_.Below(9)) {
      case 0:
        end.large = random_.Chance(0.2);
        end.to_send += random_.Size(48);
        break;
      case 1:
        end.paused = random_.Chance(0.3);
        break;
      case 2:
        // The client's decision arrives.
        if (random_.Chance(0.1)) end.may_send = true;
        break;
      case 3:
        end.Repost(random_.Size(4));
        break;
      case 4:
        for (uint64_t n = random_.Size(24); n > 0; --n) end.Deliver();
        break;
      case 5:
        end.PollSends();
        break;
      default:
        end.PollReceives(random_.Size(32));
        if (random_.Chance(0.5)) end.PollSends();
        if (random_.Chance(0.7)) end.Repost(random_.Size(32));
        end.Flush(random_.Size(32));
    }
  }

  // Everybody reads, and nothing more is written.
  void Settle() {
    for (int quiet = 0, round = 0; quiet < 3 && wrong_.empty(); ++round) {
      if (round > 20'000) return Expect(false, "they chatter for ever");
      const uint64_t before = messages() + bare();
      for (End* const end : {&client_, &server_}) {
        end->may_send = true;
        end->paused = false;
        end->PollReceives(~uint64_t{0});
        end->PollSends();
        end->Repost(~uint64_t{0});
        end->Flush(32);
        while (end->Deliver()) {
        }
      }
      quiet = messages() + bare() == before ? quiet + 1 : 0;
    }
  }

  void Expect(bool holds, const char* what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }

  TestRandom random_;
  std::string wrong_;
  End client_;
  End server_;
};

}  // namespace farcall::testing

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_BRPC_SIM_TESTING_H_
