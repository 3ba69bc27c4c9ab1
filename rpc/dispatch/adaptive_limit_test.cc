// SPDX-License-Identifier: Apache-2.0
//
// The limit against a model of a server: some workers, a queue before them, and callers who come
// whether they are served or not and wait so long and no longer.

#include "rpc/dispatch/adaptive_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <initializer_list>
#include <queue>
#include <vector>

#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Duration FromSeconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

struct Model {
  int workers = 8;
  double service = 0.002;  // seconds, on average
  bool constant = false;   // each takes the average; else anything from 0 to many times it
  double load = 2;         // arrivals, as part of what the workers can do
  double patience = 50;    // of callers, in average service times

  double capacity() const { return workers / service; }
};

class ModelServer {
 public:
  ModelServer(const Model& first, uint64_t seed) : model(first), random_(seed) {}

  // Calls that ended in time within `length`, by the second.
  double Run(Duration length) {
    const TimePoint end = now_ + length;
    const int64_t before = in_time_;
    refused_ = arrived_ = 0;
    for (;;) {
      const TimePoint done = running_.empty() ? TimePoint::max() : running_.top().end;
      const TimePoint next = std::min(done, arrival_);
      if (next >= end) break;
      now_ = next;
      done <= arrival_ ? Complete() : Arrive();
    }
    now_ = end;
    return static_cast<double>(in_time_ - before) / std::chrono::duration<double>(length).count();
  }

  int limit() const { return limit_.limit(); }
  double refused() const { return static_cast<double>(refused_) / static_cast<double>(arrived_); }

  Model model;

 private:
  struct Running {
    TimePoint end;
    TimePoint arrival;
    bool operator>(const Running& other) const { return end > other.end; }
  };

  double Exponential() {
    return -std::log(1 - static_cast<double>(random_.Next() >> 11) / 9007199254740992.0);
  }
  void Arrive() {
    arrival_ = now_ + FromSeconds(Exponential() / (model.load * model.capacity()));
    ++arrived_;
    if (UnderWay() >= limit_.limit()) {
      ++refused_;
      return;
    }
    waiting_.push_back(now_);
    StartWaiting();
  }
  void StartWaiting() {
    while (!waiting_.empty() && static_cast<int>(running_.size()) < model.workers) {
      const TimePoint arrival = waiting_.front();
      waiting_.pop_front();
      // What is too late is not run, as on a server.
      if (TooLate(arrival)) {
        limit_.OnEnd(false, now_ - arrival, UnderWay() + 1, now_);
        continue;
      }
      const double takes = model.service * (model.constant ? 1 : Exponential());
      running_.push({now_ + FromSeconds(takes), arrival});
    }
  }
  void Complete() {
    const Running call = running_.top();
    const int under_way = UnderWay();
    running_.pop();
    const bool in_time = !TooLate(call.arrival);
    in_time_ += in_time ? 1 : 0;
    limit_.OnEnd(in_time, now_ - call.arrival, under_way, now_);
    StartWaiting();
  }
  bool TooLate(TimePoint arrival) const {
    return now_ - arrival > FromSeconds(model.patience * model.service);
  }
  int UnderWay() const { return static_cast<int>(waiting_.size() + running_.size()); }

  TestRandom random_;
  AdaptiveLimit limit_;
  TimePoint now_{seconds(1)};
  TimePoint arrival_ = now_;
  std::deque<TimePoint> waiting_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  int64_t in_time_ = 0;
  int64_t refused_ = 0;
  int64_t arrived_ = 0;
};

Model RandomModel(TestRandom& random) {
  Model model;
  model.workers = static_cast<int>(random.Size(128));
  // No more than 1,250 calls a second, so that seeds are cheap.
  model.service = model.workers / (125.0 + static_cast<double>(random.Below(1125)));
  model.constant = random.Chance(0.3);
  model.load = 1.2 + static_cast<double>(random.Below(30)) / 10;
  model.patience = 10 + static_cast<double>(random.Below(60));
  return model;
}

std::string Shown(const Model& model) {
  return "workers " + std::to_string(model.workers) + " service " + std::to_string(model.service) +
         " load " + std::to_string(model.load) + " patience " + std::to_string(model.patience) +
         (model.constant ? " constant" : "");
}

// 1 to SeedsHere(`number`), and those that have found something out.
std::vector<uint64_t> Seeds(uint64_t number, std::initializer_list<uint64_t> telling) {
  std::vector<uint64_t> seeds(telling);
  for (uint64_t seed = 1; seed <= SeedsHere(number); ++seed) seeds.push_back(seed);
  return seeds;
}

TEST(AdaptiveLimitTest, BeginsWithSomething) { EXPECT_EQ(AdaptiveLimit().limit(), 40); }

TEST(AdaptiveLimitTest, KeepsGoodputNearTheBestUnderOverload) {
  for (const uint64_t seed : Seeds(120, {603, 937})) {
    TestRandom random(seed);
    const Model model = RandomModel(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + Shown(model));
    ModelServer server(model, seed);
    server.Run(seconds(40));
    const double goodput = server.Run(seconds(20));
    EXPECT_GT(goodput, 0.85 * model.capacity()) << "limit " << server.limit();
    EXPECT_LT(server.limit(), 3 * model.workers + 8);
  }
}

TEST(AdaptiveLimitTest, ALoadThatTheServerBearsIsNotRefused) {
  for (const uint64_t seed : Seeds(100, {347, 528, 582, 1291})) {
    TestRandom random(seed);
    Model model = RandomModel(random);
    model.load = 0.1 + static_cast<double>(random.Below(50)) / 100;
    model.patience = 1000;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + Shown(model));
    ModelServer server(model, seed);
    server.Run(seconds(60));
    // Probes refuse calls, and come to be half a minute apart: less would be one probe's chance.
    server.Run(seconds(60));
    EXPECT_LT(server.refused(), 0.08) << "limit " << server.limit();
  }
}

TEST(AdaptiveLimitTest, RecoversAfterASlowPhase) {
  for (const uint64_t seed : Seeds(60, {371, 4835})) {
    TestRandom random(seed);
    const Model model = RandomModel(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + Shown(model));
    ModelServer server(model, seed);
    server.Run(seconds(40));
    // All takes five times as long, or half of the workers are gone.
    if (random.Chance(0.5)) {
      server.model.service *= 5;
      server.model.load /= 5;
    } else {
      server.model.workers = std::max(1, model.workers / 2);
    }
    server.Run(seconds(40));
    server.model = model;
    // The next probe is at most half a minute away, and not the last one that is needed.
    server.Run(seconds(45));
    EXPECT_GT(server.Run(seconds(20)), 0.85 * model.capacity()) << "limit " << server.limit();
  }
}

TEST(AdaptiveLimitTest, FindsMoreThanItBeganWith) {
  Model model{.workers = 400, .service = 0.1, .constant = false, .load = 2, .patience = 10};
  ModelServer server(model, 1);
  server.Run(seconds(60));
  EXPECT_GT(server.Run(seconds(10)), 0.9 * model.capacity()) << "limit " << server.limit();
}

TEST(AdaptiveLimitTest, HalvesWhereEverythingIsLate) {
  AdaptiveLimit limit;
  TimePoint now{seconds(1)};
  for (int i = 0; i < 10'000; ++i) {
    now += milliseconds(1);
    limit.OnEnd(false, seconds(1), limit.limit(), now);
  }
  EXPECT_EQ(limit.limit(), 1);
}

TEST(AdaptiveLimitTest, LearnsNothingFromAFewCalls) {
  AdaptiveLimit limit;
  TimePoint now{seconds(1)};
  for (int i = 0; i < 100; ++i) {
    now += seconds(1);
    limit.OnEnd(i % 2 == 0, milliseconds(i), 1, now);
  }
  EXPECT_EQ(limit.limit(), AdaptiveLimit::kFirst);
}

TEST(AdaptiveLimitTest, BearsTimesThatStandStillOrAreNothing) {
  AdaptiveLimit limit;
  for (int i = 0; i < 10'000; ++i) limit.OnEnd(true, Duration::zero(), 40, TimePoint(seconds(1)));
  for (int i = 0; i < 10'000; ++i) {
    limit.OnEnd(true, Duration::zero(), 40, TimePoint(seconds(2) + milliseconds(i)));
  }
  EXPECT_GE(limit.limit(), 1);
  EXPECT_LE(limit.limit(), AdaptiveLimit::kMax);
}

}  // namespace
}  // namespace farcall
