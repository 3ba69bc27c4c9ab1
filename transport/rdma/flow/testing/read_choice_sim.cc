// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/testing/read_choice_sim.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>

#include "absl/strings/str_cat.h"
#include "transport/rdma/flow/read_choice.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using Way = ReadChoice::Way;

constexpr double kNever = 1e300;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// What is there for a while. Rates in bytes a second.
struct Conditions {
  std::array<double, 2> rate{};  // of the device, by Way
  double taken = kNever;         // of the program that receives
  bool bursts = false;           // the sender has nothing to send now and then
};

class Sim {
 public:
  explicit Sim(uint64_t seed) : random_(seed) {}

  // Sends until `bytes` more are with the peer.
  void Carry(const Conditions& conditions, uint64_t bytes) {
    conditions_ = conditions;
    const uint64_t end = delivered_ + bytes;
    while (delivered_ < end) Step();
  }

  const ReadChoice& choice() const { return choice_; }
  // Bytes that went each way.
  uint64_t carried(Way way) const { return carried_[way]; }
  uint64_t decisions() const { return decisions_; }
  TestRandom& random() { return random_; }

 private:
  // A send takes one of the peer's receives until its program has taken the bytes; what is read is
  // asked for by that program.
  static constexpr size_t kCredits = 64;
  static constexpr size_t kWindows = 16;
  static constexpr uint32_t kMessage = 64 << 10;
  static constexpr uint32_t kReference = 256 << 10;
  static constexpr uint64_t kCalm = 256 * kMiB;

  struct Piece {
    Way way;
    uint32_t bytes;
    bool measured;
    double delivered = 0;  // when that is known here
    double taken = 0;      // when it is taken from the peer's receives, as is known here
  };

  double Noise() { return 0.9 + static_cast<double>(random_.Below(2000)) / 10'000; }

  // Now and then something else is in the way: of the samples that are compared it spoils one.
  double Trouble() {
    const uint64_t all = carried_[0] + carried_[1];
    if (all < calm_until_ || random_.Below(500) > 0) return 1;
    calm_until_ = all + kCalm;
    return 100;
  }

  void Step() {
    Flush();
    // The next that happens: something is delivered, or taken, or there is more to send.
    double next = kNever;
    for (const Piece& piece : under_way_) {
      if (piece.delivered > now_) next = std::min(next, piece.delivered);
      if (piece.taken > now_) next = std::min(next, piece.taken);
    }
    if (wanted_ == 0) next = std::min(next, more_at_);
    now_ = next;
    if (wanted_ == 0 && now_ >= more_at_) Want();
    Deliver();
  }

  void Want() {
    wanted_ = conditions_.bursts ? random_.Size(16 * kMiB) : kGiB;
    // After that a pause as long as the burst takes, about.
    const double slower = std::min(conditions_.rate[0], conditions_.rate[1]);
    pause_ = conditions_.bursts ? static_cast<double>(random_.Size(16 * kMiB)) / slower : 0;
  }

  // All completions that one poll of the queue finds have the same time.
  void Deliver() {
    for (Piece& piece : under_way_) {
      if (piece.delivered == 0 || piece.delivered > now_) continue;
      piece.delivered = 0;
      delivered_ += piece.bytes;
      if (!piece.measured) continue;
      const std::optional<ReadsWhy> before = Decided();
      choice_.OnDelivered(piece.way, piece.bytes,
                          TimePoint(std::chrono::nanoseconds(static_cast<int64_t>(now_ * 1e9))));
      if (Decided() && !before) ++decisions_;
    }
    while (!under_way_.empty() && under_way_.front().delivered == 0 &&
           under_way_.front().taken <= now_) {
      under_way_.pop_front();
    }
  }
  std::optional<ReadsWhy> Decided() const {
    if (choice_.measures()) return std::nullopt;
    return choice_.use().why;
  }

  size_t Holding(Way way) const {
    return static_cast<size_t>(
        std::count_if(under_way_.begin(), under_way_.end(), [&](const Piece& piece) {
          return piece.way == way && (piece.delivered > 0 || piece.taken > now_);
        }));
  }

  void Flush() {
    while (wanted_ > 0) {
      const Way way = choice_.reads() ? ReadChoice::kRead : ReadChoice::kSend;
      if (Holding(way) >= (way == ReadChoice::kRead ? kWindows : kCredits)) break;
      const uint64_t most = way == ReadChoice::kRead ? kReference : kMessage;
      Post(way, static_cast<uint32_t>(std::min(wanted_, most)));
    }
    choice_.OnFlushed(wanted_ > 0);
    if (wanted_ == 0 && more_at_ <= now_) more_at_ = now_ + pause_;
  }

  void Post(Way way, uint32_t bytes) {
    const bool measured = way == ReadChoice::kRead || choice_.measures();
    if (measured) choice_.OnPosted(way, bytes);
    choice_.OnBytes(bytes);
    wanted_ -= bytes;
    carried_[way] += bytes;
    Piece piece{.way = way, .bytes = bytes, .measured = measured};
    const double wire = bytes / conditions_.rate[way] * Noise() * Trouble();
    device_free_ = std::max(device_free_, now_) + wire;
    // What is read is there when the program has taken what came before.
    const double begun = std::max(device_free_, taker_free_);
    taker_free_ = begun + bytes / conditions_.taken;
    const double back = way == ReadChoice::kRead ? 20e-6 : 2e-6;
    piece.delivered = (way == ReadChoice::kRead ? taker_free_ : device_free_) + back;
    piece.taken = taker_free_ + back;
    under_way_.push_back(piece);
  }

  TestRandom random_;
  ReadChoice choice_{ReadsWhy::kMeasuring};
  Conditions conditions_;
  double now_ = 1;
  double more_at_ = 1;
  double pause_ = 0;
  double device_free_ = 0;
  double taker_free_ = 0;
  uint64_t wanted_ = 0;
  uint64_t calm_until_ = 0;
  uint64_t delivered_ = 0;
  uint64_t decisions_ = 0;
  std::array<uint64_t, 2> carried_{};
  std::deque<Piece> under_way_;
};

// READs that carry `ratio` of what sends do.
Conditions With(TestRandom& random, double ratio) {
  Conditions conditions;
  const double rate = 1e8 * std::pow(10, static_cast<double>(random.Below(250)) / 100);
  conditions.rate = {rate, rate * ratio};
  conditions.bursts = random.Below(2) == 0;
  return conditions;
}

double Between(TestRandom& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.Below(1000)) / 1000;
}

std::string Wrong(absl::string_view what, const Sim& sim, const Conditions& conditions) {
  const ReadsUse& use = sim.choice().use();
  return absl::StrCat(what, ": ", Name(use.why), ", measured ", use.send_rate, " and ",
                      use.read_rate, ", sends have ", conditions.rate[0], ", READs ",
                      conditions.rate[1], conditions.taken < kNever ? ", a slow taker" : "",
                      conditions.bursts ? ", in bursts" : "");
}

// Slower READs are found out, at a bounded price.
std::string RunSlower(uint64_t seed) {
  Sim sim(seed);
  const Conditions slower = With(sim.random(), Between(sim.random(), 0.1, 0.7));
  sim.Carry(slower, 128 * kMiB);
  if (sim.choice().use().why != ReadsWhy::kSendsAreFaster) return Wrong("slower", sim, slower);
  sim.Carry(slower, 8 * kGiB);
  if (sim.choice().use().why != ReadsWhy::kSendsAreFaster)
    return Wrong("still slower", sim, slower);
  // Measured at first, and after 1, 2 and 4 GiB.
  if (sim.decisions() < 3) return Wrong("it was not measured again", sim, slower);
  if (sim.decisions() > 4) return Wrong("it was measured too often", sim, slower);
  if (sim.carried(ReadChoice::kRead) > 8 * kGiB / 25)
    return Wrong("too much was read", sim, slower);
  return "";
}

// READs that are as fast are used, and no more when they have become slow.
std::string RunFaster(uint64_t seed) {
  Sim sim(seed);
  const Conditions good = With(sim.random(), Between(sim.random(), 1.05, 3));
  sim.Carry(good, 128 * kMiB);
  if (sim.choice().use().why != ReadsWhy::kReadsPay) return Wrong("faster", sim, good);
  // A little slower than they were to begin with, they stay in use.
  Conditions worse = good;
  worse.rate[1] = worse.rate[0] * Between(sim.random(), 0.86, 0.91);
  sim.Carry(worse, 4 * kGiB);
  if (sim.choice().use().why != ReadsWhy::kReadsPay) return Wrong("to and fro", sim, worse);
  if (sim.carried(ReadChoice::kRead) < 3 * kGiB) return Wrong("little was read", sim, worse);
  worse.rate[1] = worse.rate[0] / 2;
  sim.Carry(worse, 8 * kGiB + 128 * kMiB);
  if (sim.choice().use().why != ReadsWhy::kSendsAreFaster) return Wrong("now slower", sim, worse);
  return "";
}

// Where the program that receives is the limit, both carry the same, whatever the device can.
std::string RunTaker(uint64_t seed) {
  Sim sim(seed);
  Conditions slow = With(sim.random(), Between(sim.random(), 0.6, 2));
  slow.bursts = false;
  slow.taken = std::min(slow.rate[0], slow.rate[1]) / Between(sim.random(), 2, 10);
  sim.Carry(slow, 256 * kMiB);
  return sim.choice().use().why == ReadsWhy::kReadsPay ? "" : Wrong("a slow taker", sim, slow);
}

}  // namespace

std::string RunReadChoiceSim(uint64_t seed) {
  std::string wrong = RunSlower(seed);
  if (wrong.empty()) wrong = RunFaster(seed);
  return wrong.empty() ? RunTaker(seed) : wrong;
}

}  // namespace farcall
