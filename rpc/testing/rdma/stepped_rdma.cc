// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/rdma/stepped_rdma.h"

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

// Things that happen on the fabric in one turn of the loops.
constexpr int kOutside = 32;
// What passes of virtual time while another thread is waited for.
constexpr Duration kBeat = std::chrono::milliseconds(1);

}  // namespace

SteppedEnd::SteppedEnd(const RdmaRigOptions& options, const UpgradeOptions& upgrade,
                       SimNetwork& network, const SteppedClock& clock)
    : rig_(options),
      tcp_(network, rig_.pool()),
      record_([this](absl::string_view line) { log_.Sink()(LogSeverity::kInfo, line); }, &events_),
      transport_(tcp_, rig_.transport(), record_, upgrade) {
  RuntimeParts parts;
  parts.clock = &clock;
  parts.loops = &rig_.loops();
  parts.transport = &transport_;
  parts.pool = &rig_.pool();
  parts.run_blocking = [](std::function<void()>) { return false; };
  parts.log = log_.Sink();
  parts.sessions = &sessions_;
  runtime_ = Runtime::On(std::move(parts));
}

std::string SteppedEnd::Log() {
  std::string all = absl::StrCat(log_.All(), absl::StrJoin(rig_.log(), "\n"), "\n");
  for (const PastEvent& event : events_.events()) absl::StrAppend(&all, event.text, "\n");
  return all;
}

size_t SteppedEnd::End() {
  runtime_.reset();
  rig_.End();
  return rig_.pool().stats().used_bytes;
}

SteppedRdma::SteppedRdma(const FakeRdma::Change& change, const UpgradeOptions& upgrade)
    : fake_(FakeMode::kStepped, change),
      network_({.min_delay = std::chrono::microseconds(10),
                .max_delay = std::chrono::microseconds(100)}),
      client_(OnlyOn("fakeA"), upgrade, network_, clock_),
      server_(OnlyOn("fakeB"), upgrade, network_, clock_) {}

SteppedRdma::~SteppedRdma() {
  if (!ended_) Check(End().empty(), "nothing is left of two hosts");
}

RdmaRigOptions SteppedRdma::OnlyOn(const char* device) const {
  RdmaRigOptions options = fake_.rig();
  if (options.rdma.devices.empty()) options.rdma.devices = {device};
  options.loops = 1;
  options.clock = &clock_;
  return options;
}

bool SteppedRdma::TurnAll() {
  if (on_turn_) on_turn_();
  bool worked = client_.rig().Step();
  if (!server_held_) worked |= server_.rig().Step();
  for (int i = 0; i < kOutside && fake_.fabric().Step(); ++i) worked = true;
  return worked;
}

bool SteppedRdma::Advance(TimePoint latest) {
  client_.rig().Nap();
  std::optional<TimePoint> first = client_.rig().NextTimer();
  std::optional<TimePoint> other;
  if (!server_held_) {
    server_.rig().Nap();
    other = server_.rig().NextTimer();
  }
  if (!first || (other && *other < *first)) first = other;
  if (!first || *first > latest) return false;
  clock_.AdvanceTo(*first);
  return true;
}

bool SteppedRdma::Until(absl::FunctionRef<bool()> done, Duration limit) {
  const TimePoint latest = clock_.Now() + limit;
  for (int turns = 0; turns < kMaxTurns; ++turns) {
    if (done()) return true;
    if (!TurnAll() && !Advance(latest)) return false;
  }
  return false;
}

void SteppedRdma::RunFor(Duration span) {
  const TimePoint latest = clock_.Now() + span;
  static_cast<void>(Until([] { return false; }, span));
  clock_.AdvanceTo(latest);
}

void SteppedRdma::Stop(std::unique_ptr<Server> server) {
  TestEvent stopped;
  std::thread stopper([&] {
    server.reset();
    stopped.Signal();
  });
  while (stopped.count() == 0) {
    if (TurnAll()) continue;
    clock_.AdvanceTo(clock_.Now() + kBeat);
    std::this_thread::yield();
  }
  stopper.join();
}

std::string SteppedRdma::End() {
  ended_ = true;
  on_turn_ = nullptr;
  const bool over =
      Until([&] { return client_.sessions() + server_.sessions() == 0; }, std::chrono::seconds(60));
  RunFor(std::chrono::seconds(2));
  clock_.SetRunning(true);
  size_t used = client_.End();
  used += server_.End();
  clock_.SetRunning(false);
  std::string left = absl::StrJoin(fabric().Leaks(), "\n");
  absl::StrAppend(&left, absl::StrJoin(fabric().violations(), "\n"));
  if (!left.empty()) fabric().ExpectViolations();
  if (!over) absl::StrAppend(&left, "\nsessions did not end");
  if (used > 0) absl::StrAppend(&left, "\n", used, " bytes of blocks did not come home");
  return left;
}

}  // namespace farcall
