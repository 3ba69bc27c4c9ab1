// SPDX-License-Identifier: Apache-2.0
//
// For the tests of sessions: a transport whose other end is the test, on a loop that the
// test turns by hand, in the time that the test says. One thread.

#ifndef FARCALL_RPC_SESSION_SESSION_TESTING_H_
#define FARCALL_RPC_SESSION_SESSION_TESTING_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/naming/name_cache.h"
#include "rpc/naming/resolve.h"
#include "rpc/runtime_parts.h"
#include "rpc/wire/frame.h"
#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/loop_group.h"
#include "transport/testing/fill_place.h"
#include "transport/transport.h"

namespace farcall {

// What the code under test did with a connection, and what the connection delivers. Outlives it.
struct FakeWire final : std::enable_shared_from_this<FakeWire> {
  EventLoop* loop = nullptr;
  Connection::Handler* handler = nullptr;  // null: not started, or closed
  Buffer input;
  Buffer written;
  size_t landed = 0;  // bytes that came to lie where the handler wanted them
  ConnectionInfo info;
  bool paused = false;
  bool closing = false;
  bool destroyed = false;
  int trusted = 0;  // times that the peer was

  // The rest with nothing held. Bytes come from the other end.
  void Deliver(absl::string_view bytes) {
    loop->RunOrPost([self = shared_from_this(), copy = std::string(bytes)] {
      if (self->handler == nullptr || self->closing) return;
      const Buffer target = self->handler->PlaceFor(0, copy.size());
      FillPlace(target, copy);
      self->landed += target.size();
      self->input.Append(target.Share());
      self->input.Append(absl::string_view(copy).substr(target.size()));
      if (!self->paused) self->handler->OnRead(self->input);
    });
  }
  // The connection ends, whoever wanted it.
  void End(const absl::Status& why) {
    loop->RunOrPost([self = shared_from_this(), why] {
      self->closing = true;
      if (self->handler != nullptr) std::exchange(self->handler, nullptr)->OnClose(why);
    });
  }
  // The frames that were written since the last time.
  std::vector<Frame> TakeFrames() {
    std::vector<Frame> frames;
    Frame frame;
    while (!written.empty() && *CutFrame(written, FrameLimits(), frame) == 0) {
      frames.push_back(std::move(frame));
      frame = Frame();
    }
    return frames;
  }
};

class FakeConnection final : public Connection {
 public:
  FakeConnection(EventLoop& loop, BlockPool& pool, std::shared_ptr<FakeWire> wire)
      : loop_(loop), pool_(pool), wire_(std::move(wire)) {
    wire_->loop = &loop;
  }
  ~FakeConnection() override {
    Check(loop_.held(), "a connection is destroyed while its loop is held");
    wire_->handler = nullptr;
    wire_->destroyed = true;
  }
  void Start(Handler& handler) override { wire_->handler = &handler; }
  void Write(Buffer data) override {
    if (!wire_->closing) wire_->written.Append(std::move(data));
  }
  void PauseRead() override { wire_->paused = true; }
  void ResumeRead() override {
    wire_->paused = false;
    loop_.Post([wire = wire_] {
      const bool due = wire->handler != nullptr && !wire->closing && !wire->paused;
      if (due && !wire->input.empty()) wire->handler->OnRead(wire->input);
    });
  }
  void Close(absl::Status why, CloseMode) override {
    if (std::exchange(wire_->closing, true)) return;
    loop_.Post([wire = wire_, why = std::move(why)] {
      if (wire->handler != nullptr) std::exchange(wire->handler, nullptr)->OnClose(why);
    });
  }
  size_t backlog() const override { return wire_->written.size(); }
  BlockPool& pool() override { return pool_; }
  void TrustPeer() override { ++wire_->trusted; }
  ConnectionInfo info() const override {
    ConnectionInfo info = wire_->info;
    info.peer = Address::Ipv4({192, 0, 2, 1}, 80);
    info.transport = TransportKind::kSimulated;
    return info;
  }

 private:
  EventLoop& loop_;
  BlockPool& pool_;
  const std::shared_ptr<FakeWire> wire_;
};

// Connecting waits until the test says how it went.
class FakeTransport final : public Transport {
 public:
  struct Attempt {
    EventLoop* loop;
    Address peer;
    ConnectOptions options;
    OnConnect done;
  };

  explicit FakeTransport(BlockPool& pool) : pool_(pool) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override {
    Check(loop.held(), "who connects holds the loop");
    attempts.push_back({&loop, peer, options, std::move(done)});
  }
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup&, const Address&, const ListenOptions&,
                                                   OnAccept) override {
    return absl::UnavailableError("this test has no listener");
  }

  // The oldest attempt ends, with nothing held.
  void Fail(const absl::Status& why) {
    End([why](EventLoop&, OnConnect& done) { done(why); });
  }
  // `info`: what the connection tells of itself, but for its ends.
  std::shared_ptr<FakeWire> Succeed(const ConnectionInfo& info = {}) {
    auto wire = std::make_shared<FakeWire>();
    wire->info = info;
    wire->loop = attempts.front().loop;
    End([this, wire](EventLoop& loop, OnConnect& done) {
      done(std::make_unique<FakeConnection>(loop, pool_, wire));
    });
    return wire;
  }

  std::vector<Attempt> attempts;  // under way

 private:
  void End(std::function<void(EventLoop&, OnConnect&)> tell) {
    Attempt attempt = std::move(attempts.front());
    attempts.erase(attempts.begin());
    EventLoop& loop = *attempt.loop;
    loop.RunOrPost([&loop, tell = std::move(tell), done = std::move(attempt.done)]() mutable {
      tell(loop, done);
    });
  }

  BlockPool& pool_;
};

// What sessions stand on. Outlives them.
class SessionWorld {
 public:
  SessionWorld() {
    parts.clock = &clock;
    parts.loops = &group;
    parts.transport = &transport;
    parts.pool = pool.get();
    parts.run_blocking = [this](std::function<void()> work) {
      if (refuse_blocking) return false;
      blocking.push_back(std::move(work));
      return true;
    };
    parts.names = std::make_shared<NameCache>(clock, parts.run_blocking, Resolve);
    parts.log = [this](LogSeverity, absl::string_view line) { log.emplace_back(line); };
  }

  // Turns the loop until it has nothing to do.
  void Run() {
    while (loop->RunOnce()) {
    }
  }
  // Runs what the loop was spared, with nothing held.
  void RunBlocking() {
    const auto work = std::exchange(blocking, {});
    for (const auto& one : work) one();
  }

  ManualClock clock;
  std::unique_ptr<BlockPool> pool =
      *BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{32} << 20});
  std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  LoopGroup group{{loop.get()}};
  FakeTransport transport{*pool};
  std::vector<std::function<void()>> blocking;
  bool refuse_blocking = false;
  std::vector<std::string> log;
  RuntimeParts parts;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SESSION_TESTING_H_
