// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/placement_run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/rdma/testing/fault_run.h"
#include "transport/rdma/testing/stepped_clock.h"

namespace farcall {
namespace {

constexpr uint32_t kPiece = 48 << 10;
constexpr int kPieces = 4;
constexpr char kOwners = 'o';  // what the owner writes when it has its memory again
constexpr Duration kPlacementStep = std::chrono::microseconds(200);
constexpr Duration kPause = std::chrono::milliseconds(20);
// Longer than anything waits for: a READ, and then the end of its queue pair.
constexpr int kMaxSteps = 20'000;

// The receiving end, and the memory that its owner gave.
class Receiver final : public Connection::Handler {
 public:
  size_t OnRead(Buffer& input) override {
    for (const Buffer::Slice& slice : input.slices()) {
      if (slice.block == memory) landed += slice.length;
    }
    came += input.size();
    input.Clear();
    return 0;
  }
  Buffer PlaceFor(size_t ahead, size_t bytes) override {
    const uint64_t at = came + ahead;
    if (wanted_back || at >= memory->capacity) return {};
    Buffer part;
    const auto most = static_cast<uint32_t>(std::min<uint64_t>(bytes, memory->capacity - at));
    part.Append({memory, static_cast<uint32_t>(at), most});
    return part;
  }
  std::shared_ptr<void> HoldPlace() override {
    ++holds;
    return {this, [](Receiver* self) {
              --self->holds;
              self->TakeBack();
            }};
  }
  void OnDrained() override {}
  void OnClose(const absl::Status&) override { closed = true; }

  void TakeBack() {
    if (!wanted_back || holds > 0 || has_it) return;
    has_it = true;
    std::fill_n(memory->bytes(), memory->capacity, kOwners);
  }
  bool Spoilt() const {
    const char* const begin = memory->bytes();
    if (!has_it) return false;
    return *begin != kOwners || std::memcmp(begin, begin + 1, memory->capacity - 1) != 0;
  }

  std::unique_ptr<Connection> connection;
  EventLoop* loop = nullptr;
  BlockRef memory;
  uint64_t came = 0;
  uint64_t landed = 0;
  int holds = 0;
  bool wanted_back = false;
  bool has_it = false;
  bool closed = false;
};

class Sender final : public Connection::Handler {
 public:
  size_t OnRead(Buffer& input) override {
    input.Clear();
    return 0;
  }
  void OnDrained() override {}
  void OnClose(const absl::Status&) override { closed = true; }

  std::unique_ptr<Connection> connection;
  EventLoop* loop = nullptr;
  std::vector<BlockRef> sent;
  bool closed = false;
};

class PlacementRun {
 public:
  PlacementRun(const PlacementCase& test, int at)
      : test_(test), at_(at), harness_(FakeMode::kStepped, [&](auto& fabric, auto& rig) {
          SmallRdmaWithReferences(fabric, rig);
          rig.rdma.shared_receives = 64;
          rig.clock = &clock_;
          fabric.shuffle_completions = test.seed != 0;
          if (test.seed != 0) fabric.seed = test.seed;
          for (FakeDeviceOptions& device : fabric.devices) device.flushes = test.flushes;
        }) {}

  PlacementOutcome Go() {
    Connect();
    Write();
    for (int step = 1; step < kMaxSteps && !Over(); ++step) {
      if (step == at_) Happen();
      ++outcome_.steps;
      // One thing of the fabric at a time: a READ is asked for, and answered later. Where nothing
      // happens something waits for its time.
      const bool outside = harness_.fabric().Step();
      const bool worked = step % 4 == 0 && harness_.rig().Step();
      const bool idle = !outside && !worked && step % 4 == 0;
      clock_.AdvanceTo(clock_.Now() + (idle ? kPause : kPlacementStep));
      Look();
    }
    End();
    return outcome_;
  }

 private:
  void Connect() {
    auto listener = harness_.transport().Listen(
        harness_.loops(), harness_.FreeAddress(), ListenOptions(),
        [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
          receiver_.loop = &loop;
          receiver_.connection = std::move(connection);
          receiver_.connection->Start(receiver_);
        });
    Check(listener.ok(), "the run listens");
    sender_.loop = &harness_.loops().at(0);
    harness_.Run(*sender_.loop, [&] {
      harness_.transport().Connect(*sender_.loop, (*listener)->address(), ConnectOptions(),
                                   [this](auto connection) {
                                     Check(connection.ok(), "the run connects");
                                     sender_.connection = *std::move(connection);
                                     sender_.connection->Start(sender_);
                                   });
    });
    Check(harness_.Until([&] { return receiver_.connection && sender_.connection; }), "connected");
    harness_.Settle();
  }
  void Write() {
    receiver_.memory = harness_.pool().Allocate(kPieces * kPiece);
    Check(receiver_.memory->capacity >= kPieces * kPiece, "the pool has large blocks");
    Buffer data;
    for (int i = 0; i < kPieces; ++i) {
      BlockRef block = harness_.pool().Allocate(kPiece);
      std::fill_n(block->bytes(), kPiece, static_cast<char>('a' + i));
      sender_.sent.push_back(block);
      data.Append({std::move(block), 0, kPiece});
    }
    harness_.DrainControl();
    harness_.Run(*sender_.loop, [&] { sender_.connection->Write(std::move(data)); });
  }
  void Happen() {
    outcome_.in_flight = receiver_.holds > 0;
    receiver_.wanted_back = true;
    receiver_.TakeBack();
    if (test_.fault) test_.fault(harness_.fabric());
    if (test_.receiver_closes || test_.stops) Close(receiver_, CloseMode::kAbort);
    if (test_.sender_closes || test_.stops) Close(sender_, CloseMode::kAbort);
    if (test_.stops) {
      Destroy(receiver_);
      Destroy(sender_);
    }
  }
  template <typename EndOfIt>
  void Close(EndOfIt& end, CloseMode mode) {
    if (end.closed || end.connection == nullptr) return;
    harness_.Run(*end.loop, [&] { end.connection->Close(absl::CancelledError("over"), mode); });
  }
  template <typename EndOfIt>
  void Destroy(EndOfIt& end) {
    if (end.connection != nullptr) harness_.Run(*end.loop, [&] { end.connection.reset(); });
  }
  // What the owners do with what they have again.
  void Look() {
    if (receiver_.Spoilt()) Violation("memory was written to that its owner had again");
    for (const BlockRef& block : sender_.sent) {
      if (!block.unique()) continue;
      if (harness_.fabric().IsOpen(block->data))
        Violation("memory is open that its owner has again");
      if (*block->bytes() != kOwners) std::fill_n(block->bytes(), kPiece, kOwners);
    }
  }
  bool Over() const {
    if (at_ == 0) return receiver_.came == kPieces * kPiece && receiver_.holds == 0 && AllBack();
    return receiver_.has_it && AllBack();
  }
  bool AllBack() const {
    return std::all_of(sender_.sent.begin(), sender_.sent.end(),
                       [](const BlockRef& block) { return block.unique(); });
  }
  void Violation(absl::string_view what) {
    if (outcome_.violation.empty()) outcome_.violation = std::string(what);
  }
  void End() {
    if (!Over()) Violation("somebody does not get memory back");
    outcome_.landed = receiver_.landed;
    outcome_.reads =
        harness_.fabric().counters("fakeA").reads + harness_.fabric().counters("fakeB").reads;
    Destroy(receiver_);
    Destroy(sender_);
    clock_.SetRunning(true);
    harness_.Settle();
    // Late ones are written by now.
    Look();
    receiver_.memory = BlockRef();
    sender_.sent.clear();
    harness_.End();
    if (harness_.pool().stats().used_bytes > 0) Violation("blocks did not come home");
  }

  const PlacementCase& test_;
  const int at_;
  SteppedClock clock_;
  OverFake<SteppedRdmaHarness> harness_;
  Receiver receiver_;
  Sender sender_;
  PlacementOutcome outcome_;
};

}  // namespace

PlacementOutcome RunPlacement(const PlacementCase& test, int at) {
  return PlacementRun(test, at).Go();
}

}  // namespace farcall
