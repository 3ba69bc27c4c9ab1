// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_RAW_PEER_H_
#define FARCALL_TRANSPORT_LINK_TESTING_RAW_PEER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/loop/event_loop.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/transport.h"

namespace farcall {

// The end of a plain connection, which says what a test wants: a peer that is not farcall,
// or one that breaks the rules. For harnesses that one thread steps.
class RawPeer final : private Connection::Handler {
 public:
  RawPeer(ConformanceHarness& harness, EventLoop& loop, std::unique_ptr<Connection> connection)
      : harness_(harness), loop_(loop), connection_(std::move(connection)) {
    connection_->Start(*this);
  }
  // Connects to `peer`, which listens.
  static std::unique_ptr<RawPeer> Connect(ConformanceHarness& harness, Transport& tcp,
                                          const Address& peer) {
    std::unique_ptr<RawPeer> made;
    EventLoop& loop = harness.loops().at(0);
    harness.Run(loop, [&] {
      tcp.Connect(loop, peer, ConnectOptions(),
                  [&](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                    Check(connection.ok(), "a raw peer connects");
                    made = std::make_unique<RawPeer>(harness, loop, *std::move(connection));
                  });
    });
    Check(harness.Until([&] { return made != nullptr; }), "a raw peer connects");
    return made;
  }
  ~RawPeer() {
    OnLoop([this] { connection_.reset(); });
  }

  void Send(absl::string_view bytes) {
    OnLoop([&] { connection_->Write(Buffer(bytes)); });
  }
  void Close(CloseMode mode, absl::string_view why = "raw peer") {
    OnLoop([&] { connection_->Close(absl::CancelledError(why), mode); });
  }
  void TrustPeer() {
    OnLoop([&] { connection_->TrustPeer(); });
  }
  void SetReading(bool reading) {
    OnLoop([&] { reading ? connection_->ResumeRead() : connection_->PauseRead(); });
  }
  ConnectionInfo info() {
    ConnectionInfo info;
    OnLoop([&] { info = connection_->info(); });
    return info;
  }
  EventLoop& loop() { return loop_; }
  // Bytes that came, and have not been taken out by the test.
  std::string received;
  std::optional<absl::Status> closed;
  // Called when bytes have come.
  std::function<void(RawPeer&)> on_read;

 private:
  size_t OnRead(Buffer& input) override {
    received += input.ToString();
    input.Clear();
    if (on_read) on_read(*this);
    return 0;
  }
  void OnDrained() override {}
  void OnClose(const absl::Status& why) override { closed = why; }
  void OnLoop(const std::function<void()>& work) {
    if (loop_.held()) return work();
    harness_.Run(loop_, work);
  }

  ConformanceHarness& harness_;
  EventLoop& loop_;
  std::unique_ptr<Connection> connection_;
};

// Listens plainly, and counts who comes.
class RawServer {
 public:
  // `on_accept` makes the peer behave, before it reads anything.
  RawServer(ConformanceHarness& harness, Transport& tcp,
            const std::function<void(RawPeer&)>& on_accept, const ListenOptions& options = {}) {
    auto listener = tcp.Listen(
        harness.loops(), harness.FreeAddress(), options,
        [this, &harness, on_accept](EventLoop& loop, std::unique_ptr<Connection> connection) {
          peers.push_back(std::make_unique<RawPeer>(harness, loop, std::move(connection)));
          on_accept(*peers.back());
        });
    Check(listener.ok(), "a raw server listens");
    listener_ = *std::move(listener);
  }

  const Address& address() const { return listener_->address(); }
  std::vector<std::unique_ptr<RawPeer>> peers;

 private:
  std::unique_ptr<Listener> listener_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_RAW_PEER_H_
