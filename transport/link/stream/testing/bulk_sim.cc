// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/bulk_sim.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr int64_t kTick = 5;  // microseconds
constexpr double kHeader = 24;
constexpr int64_t kMax = 10'000'000;  // microseconds, for a message
constexpr uint64_t kMessage = uint64_t{8} << 20;
constexpr int kMessages = 12;

// Of the payload, when so much of the frame is there.
uint64_t Payload(double done) { return static_cast<uint64_t>(std::max(0.0, done - kHeader)); }

std::string CheckRates(const std::vector<double>& rates, bool both) {
  BulkSim sim(rates);
  const double ideal = kMessage / std::accumulate(rates.begin(), rates.end(), 0.0);
  for (int i = 0; i < kMessages; ++i) {
    const auto took = static_cast<double>(sim.Carry(kMessage, both ? kMessage : 0));
    if (took <= (i == 0 ? 1.5 : 1.1) * ideal) continue;
    return absl::StrCat("message ", i, both ? " of each way" : "", " over rails of ",
                        absl::StrJoin(rates, ", "), " MB/s took ", took / ideal,
                        " times as long as their sum needs");
  }
  return "";
}

}  // namespace

BulkSim::Way::Way(size_t count) : limits{.rails = static_cast<uint32_t>(count)}, wires(count) {
  for (uint32_t i = 0; i < count; ++i) rails.Add(i + 1);
}

BulkSim::BulkSim(const std::vector<double>& rates)
    : rates_(rates), ways_{Way(rates.size()), Way(rates.size())} {}

int64_t BulkSim::Carry(uint64_t first, uint64_t second) {
  ways_[0].written += first;
  ways_[1].written += second;
  const int64_t begin = now_;
  const auto all = [](const Way& way) { return way.in_row == way.written; };
  for (; !all(ways_[0]) || !all(ways_[1]); now_ += kTick) {
    Check(now_ - begin < kMax, "what is written comes");
    for (const int way : {0, 1}) {
      Report(way);
      Send(way);
    }
    for (const int way : {0, 1}) {
      for (size_t rail = 0; rail < rates_.size(); ++rail) Move(way, rail);
    }
  }
  return now_ - begin;
}

// As SwitchingStream::FlushRailAcks, of what came by `way`.
void BulkSim::Report(int way) {
  for (size_t rail = 0; rail < rates_.size(); ++rail) {
    Wire& wire = ways_[way].wires[rail];
    const uint64_t owed = wire.come - wire.reported;
    const StreamLimits& limits = ways_[way].limits;
    if (owed == 0 || wire.telling || (owed < limits.RailAckBytes() && now() < wire.due)) continue;
    wire.reported = wire.come;
    wire.telling = true;
    ways_[1 - way].wires[rail].queue.push_back(
        {.range = {}, .in_row = ways_[way].in_row, .come = wire.come, .arrival = wire.arrival});
  }
}

void BulkSim::Send(int way) {
  Way& from = ways_[way];
  const uint64_t window = from.limits.send_window;
  while (from.sent < from.written && from.acknowledged + window >= from.sent + (64 << 10)) {
    const Rails::Choice choice = from.rails.Pick(from.written - from.sent, now());
    if (choice.rail == nullptr) return;
    const uint64_t size = std::min<uint64_t>(
        {choice.most, from.acknowledged + window - from.sent, from.written - from.sent});
    choice.rail->Sent(from.sent, size, now());
    from.wires[choice.rail->number() - 1].queue.push_back({.range = {from.sent, from.sent + size},
                                                           .in_row = ways_[1 - way].in_row,
                                                           .come = 0,
                                                           .arrival = 0});
    from.sent += size;
  }
}

void BulkSim::Move(int way, size_t rail) {
  Wire& wire = ways_[way].wires[rail];
  double room = rates_[rail] * kTick;
  while (!wire.queue.empty()) {
    const Frame frame = wire.queue.front();
    const double size = kHeader + static_cast<double>(frame.range.size());
    const double before = wire.done;
    wire.done = std::min(size, before + room);
    room -= wire.done - before;
    if (const uint64_t fresh = Payload(wire.done) - Payload(before); fresh > 0) {
      if (wire.come == wire.reported) wire.due = now() + ways_[way].limits.ack_delay;
      wire.come += fresh;
      wire.arrival = StampOf(now());
    }
    if (wire.done < size) return;
    Come(way, rail, frame);
    wire.queue.pop_front();
    wire.done = 0;
  }
}

void BulkSim::Come(int way, size_t rail, const Frame& frame) {
  Way& other = ways_[1 - way];
  other.acknowledged = std::max(other.acknowledged, frame.in_row);
  if (frame.range.size() == 0) {
    other.wires[rail].telling = false;
    Rail& reported = *other.rails.Find(static_cast<uint32_t>(rail + 1));
    Check(reported.Acknowledge(frame.come, frame.arrival, now()), "only what was sent comes");
    return;
  }
  Way& from = ways_[way];
  from.early[frame.range.from] = frame.range.to;
  for (auto next = from.early.begin(); next != from.early.end() && next->first == from.in_row;) {
    from.in_row = next->second;
    next = from.early.erase(next);
  }
}

std::string CheckBulk() {
  const std::vector<std::vector<double>> cases = {{500, 500},   {200, 800}, {800, 200},
                                                  {1000, 4000}, {30, 120},  {250, 500, 1000, 2000}};
  for (const std::vector<double>& rates : cases) {
    for (const bool both : {false, true}) {
      std::string failure = CheckRates(rates, both);
      if (!failure.empty()) return failure;
    }
  }
  return "";
}

}  // namespace farcall
