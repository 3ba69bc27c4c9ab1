// SPDX-License-Identifier: Apache-2.0
//
// Client and server of an upgrade against each other, without anything below them: a wire
// that keeps the order but delays, offers and dials that fail or never come to anything,
// generations that break. And mutants, of which each must be caught.

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/link/upgrade/client_upgrade_machine.h"
#include "transport/link/upgrade/server_upgrade_machine.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kSeeds = 2000;

struct Message {
  enum class Kind { kAsk, kOffer, kDecline, kResume };
  Kind kind;
  uint32_t generation;
  TimePoint arrival;
};

enum class Mutant {
  kNone,
  kServerForgetsToResume,  // what is lost here is not reported
  kServerOffersTheLast,    // an offer names the generation before
  kClientForgetsItsLoss,   // a loss while it is ready is not noticed
  kClientAsksWithoutPause,
};

// What the link does around the two machines, by the rules of the switching stream.
class Sim {
 public:
  Sim(uint64_t seed, Mutant mutant)
      : random_(seed), mutant_(mutant), client_(Times(), random_.Next()) {}

  // Empty, or what was wrong.
  std::string Run() {
    const TimePoint healed = now_ + milliseconds(500);
    const TimePoint limit = healed + std::chrono::seconds(20);
    while (now_ < limit && wrong_.empty()) {
      healthy_ = now_ >= healed;
      if (healthy_ && Up()) return Finish();
      Step();
    }
    if (wrong_.empty()) wrong_ = "it is not up again when all works";
    return wrong_;
  }

 private:
  static UpgradeTimes Times() {
    UpgradeTimes times;
    times.first_pause = milliseconds(2);
    times.longest_pause = milliseconds(64);
    times.answer = times.dial = milliseconds(20);
    return times;
  }

  bool Up() const {
    return client_.state() == ClientUpgradeState::kReady &&
           server_.state() == ServerUpgradeState::kReady &&
           client_.generation() == server_.generation();
  }
  bool Fails(double chance) { return !healthy_ && random_.Chance(chance); }
  TimePoint Soon() { return now_ + std::chrono::microseconds(random_.Below(3000)); }
  void Expect(bool holds, absl::string_view what) {
    if (!holds && wrong_.empty()) wrong_ = std::string(what);
  }

  static void Send(std::deque<Message>& wire, Message message) {
    if (!wire.empty()) message.arrival = std::max(message.arrival, wire.back().arrival);
    wire.push_back(message);
  }
  void ToServer(Message::Kind kind, uint32_t generation) { Send(up_, {kind, generation, Soon()}); }
  void ToClient(Message::Kind kind, uint32_t generation) {
    Send(down_, {kind, generation, Soon()});
  }

  void Step() {
    now_ += std::chrono::microseconds(1 + random_.Below(500));
    while (!up_.empty() && up_.front().arrival <= now_) {
      OnServer(std::exchange(up_.front(), {}));
      up_.pop_front();
    }
    while (!down_.empty() && down_.front().arrival <= now_) {
      OnClient(std::exchange(down_.front(), {}));
      down_.pop_front();
    }
    ServerWork();
    ClientWork();
    if (Fails(0.01)) LoseAtClient(client_.generation());
    if (Fails(0.01) && server_.state() == ServerUpgradeState::kReady) LoseAtServer();
  }

  // --- The server.

  void OnServer(const Message& message) {
    if (message.kind == Message::Kind::kResume) {
      server_.OnLost(message.generation);
      if (message.generation >= awaited_) awaited_ = 0;
      return;
    }
    Expect(message.generation > server_asked_, "generations count up");
    server_asked_ = message.generation;
    Expect(server_.OnAsk(message.generation), "who asks has given up what was before");
    awaited_ = message.generation;
    offer_at_ = Fails(0.1) ? TimePoint::max() : Soon();
  }
  // A decline gives the generation up, and all before.
  void Decline(uint32_t generation) {
    ToClient(Message::Kind::kDecline, generation);
    server_.OnLost(generation);
    awaited_ = 0;
    ToClient(Message::Kind::kResume, generation);
  }
  void ServerWork() {
    if (server_.state() == ServerUpgradeState::kPreparing && now_ >= offer_at_) {
      const uint32_t generation = server_.generation();
      if (Fails(0.2)) {
        Expect(server_.OnRefused(), "what is prepared can be refused");
        Decline(generation);
      } else {
        Expect(server_.OnOffered(), "what is prepared can be offered");
        const bool last = mutant_ == Mutant::kServerOffersTheLast;
        ToClient(Message::Kind::kOffer, last ? generation - 1 : generation);
      }
    }
    if (admit_ != 0 && now_ >= admit_at_) {
      const uint32_t generation = std::exchange(admit_, 0);
      if (awaited_ == 0 || generation != server_.generation()) return;
      awaited_ = 0;
      Expect(server_.OnAdmitted(), "who is awaited is admitted");
      Expect(server_.state() == ServerUpgradeState::kReady, "and is ready then");
    }
  }
  void LoseAtServer() {
    const uint32_t generation = server_.generation();
    server_.OnLost(generation);
    if (mutant_ != Mutant::kServerForgetsToResume) ToClient(Message::Kind::kResume, generation);
  }

  // --- The client.

  void OnClient(const Message& message) {
    switch (message.kind) {
      case Message::Kind::kOffer:
        if (client_.OnOffer(message.generation) == ClientUpgradeMachine::Do::kConnect) {
          Expect(message.generation == client_.generation(), "only its own offers are dialled");
          dialled_at_ = Soon();
          connect_until_ = now_ + Times().dial;
          token_ = message.generation;
        }
        return;
      case Message::Kind::kDecline:
        client_.OnDecline(now_, message.generation, NotRdma(WhyNotRdma::kCapacity, ""));
        return GiveUp(message.generation);
      case Message::Kind::kResume:
        return Lost(message.generation);
      case Message::Kind::kAsk:
        return Expect(false, "a server does not ask");
    }
  }
  void ClientWork() {
    if (client_.state() == ClientUpgradeState::kConnecting && now_ >= dialled_at_) {
      const bool admitted = awaited_ != 0 && awaited_ == token_;
      if (now_ >= connect_until_ || Fails(0.2) || (healthy_ && !admitted)) {
        LoseAtClient(client_.generation());
      } else if (admitted && !Fails(0.1)) {
        admit_ = token_;
        admit_at_ = Soon();
        client_.OnConnected(now_, client_.generation());
      }
    }
    const ClientUpgradeState before = client_.state();
    const bool due = client_.next() && now_ >= *client_.next();
    if (client_.OnTime(now_) == ClientUpgradeMachine::Do::kAsk) {
      Expect(due, "nothing is done before its time");
      Expect(client_.generation() == last_asked_ + 1, "one generation after the other");
      last_asked_ = client_.generation();
      Expect(lost_ + 1 == last_asked_, "the last one was given up before");
      const Duration since = now_ - last_ask_at_;
      Expect(last_asked_ == 1 || since >= Times().first_pause / 2, "there is a pause between asks");
      last_ask_at_ = now_;
      ToServer(Message::Kind::kAsk, last_asked_);
    } else if (before == ClientUpgradeState::kAsking &&
               client_.state() == ClientUpgradeState::kWaiting) {
      GiveUp(client_.generation());
    }
    if (mutant_ == Mutant::kClientAsksWithoutPause && before == ClientUpgradeState::kWaiting) {
      client_.OnTime(now_ + std::chrono::hours(1));
    }
  }
  void LoseAtClient(uint32_t generation) {
    if (generation == 0 || lost_ >= generation) return;
    Lost(generation);
  }
  void Lost(uint32_t generation) {
    if (mutant_ == Mutant::kClientForgetsItsLoss && client_.state() == ClientUpgradeState::kReady)
      return;
    if (generation >= client_.generation()) {
      client_.OnLost(now_, client_.generation(), NotRdma(WhyNotRdma::kBroken, ""));
    }
    GiveUp(generation);
  }
  void GiveUp(uint32_t generation) {
    if (generation <= lost_) return;
    lost_ = generation;
    ToServer(Message::Kind::kResume, generation);
  }

  std::string Finish() {
    client_.OnEnd();
    server_.OnEnd();
    Expect(!client_.next(), "after the end nothing is due");
    Expect(client_.OnTime(TimePoint::max()) == ClientUpgradeMachine::Do::kNothing,
           "and nothing done");
    Expect(!server_.OnAsk(last_asked_ + 1), "by neither");
    return wrong_;
  }

  TestRandom random_;
  const Mutant mutant_;
  TimePoint now_{std::chrono::seconds(100)};
  bool healthy_ = false;
  std::string wrong_;
  std::deque<Message> up_;
  std::deque<Message> down_;

  ServerUpgradeMachine server_;
  uint32_t server_asked_ = 0;
  uint32_t awaited_ = 0;  // the generation of the token that admits; 0: none does
  TimePoint offer_at_{};
  uint32_t admit_ = 0;
  TimePoint admit_at_{};

  ClientUpgradeMachine client_;
  uint32_t token_ = 0;
  TimePoint dialled_at_{};
  TimePoint connect_until_{};
  uint32_t last_asked_ = 0;
  TimePoint last_ask_at_{};
  uint32_t lost_ = 0;  // the highest given up at the client
};

TEST(UpgradeSimTest, EndsUpOnTheSameGeneration) {
  for (uint64_t seed = 1; seed <= SeedsHere(kSeeds); ++seed) {
    const std::string wrong = Sim(seed, Mutant::kNone).Run();
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

TEST(UpgradeSimTest, MutantsAreCaught) {
  for (const Mutant mutant : {Mutant::kServerForgetsToResume, Mutant::kServerOffersTheLast,
                              Mutant::kClientForgetsItsLoss, Mutant::kClientAsksWithoutPause}) {
    bool caught = false;
    for (uint64_t seed = 1; seed <= kSeeds / 5 && !caught; ++seed) {
      caught = !Sim(seed, mutant).Run().empty();
    }
    EXPECT_TRUE(caught) << "mutant " << static_cast<int>(mutant);
  }
}

}  // namespace
}  // namespace farcall
