// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TESTING_TLS_PEERS_H_
#define FARCALL_TRANSPORT_TLS_TESTING_TLS_PEERS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/transport.h"

namespace farcall {

// An end of a connection that keeps what it reads, and how it ended. With the loop held, or by
// the harness's one thread.
class TlsTestEnd final : private Connection::Handler {
 public:
  void Adopt(EventLoop& loop, std::unique_ptr<Connection> connection) {
    loop_ = &loop;
    connection_ = std::move(connection);
    connection_->Start(*this);
  }
  void Drop() { connection_.reset(); }
  // Leaves what comes from now on in the input.
  void TakeNothing() { takes_ = false; }

  bool started() const { return connection_ != nullptr; }
  EventLoop& loop() const { return *loop_; }
  Connection& connection() const { return *connection_; }
  const std::string& read() const { return read_; }
  std::string TakeRead() { return std::exchange(read_, std::string()); }
  const std::optional<absl::Status>& closed() const { return closed_; }
  int drained() const { return drained_; }

 private:
  size_t OnRead(Buffer& input) override {
    if (!takes_) return 0;
    read_ += input.ToString();
    input.Clear();
    return 0;
  }
  void OnDrained() override { ++drained_; }
  void OnClose(const absl::Status& why) override {
    closed_ = why;
    connection_.reset();
  }

  EventLoop* loop_ = nullptr;
  std::unique_ptr<Connection> connection_;
  std::string read_;
  std::optional<absl::Status> closed_;
  int drained_ = 0;
  bool takes_ = true;
};

// A listener of `transport` and who connects to it by `dials`, in virtual time.
class TlsTestPair {
 public:
  TlsTestPair(ConformanceHarness& harness, Transport& dials, Transport& listens)
      : harness_(harness), dials_(dials) {
    auto listener = listens.Listen(harness.loops(), harness.FreeAddress(), ListenOptions(),
                                   [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
                                     server.Adopt(loop, std::move(connection));
                                   });
    if (listener.ok()) listener_ = *std::move(listener);
  }
  ~TlsTestPair() {
    for (TlsTestEnd* const end : {&client, &server}) {
      if (end->started()) harness_.Run(end->loop(), [end] { end->Drop(); });
    }
  }

  // Whether it came to something in time; then `connected` tells what.
  bool Connect(Duration timeout = std::chrono::seconds(10)) {
    Begin(timeout);
    return harness_.Until([&] { return connected.has_value(); });
  }
  void Begin(Duration timeout = std::chrono::seconds(10)) {
    EventLoop& loop = harness_.loops().at(0);
    ConnectOptions options;
    options.connection = marks;
    options.timeout = timeout;
    harness_.Run(loop, [&] {
      dials_.Connect(loop, listener_->address(), options, [this, &loop](auto connection) {
        connected = connection.status();
        if (connection.ok()) client.Adopt(loop, *std::move(connection));
      });
    });
  }
  void Write(TlsTestEnd& end, absl::string_view bytes) {
    harness_.Run(end.loop(), [&] { end.connection().Write(Buffer(bytes)); });
  }
  void Close(TlsTestEnd& end, CloseMode mode) {
    harness_.Run(end.loop(), [&] { end.connection().Close(absl::CancelledError("enough"), mode); });
  }
  const Address& address() const { return listener_->address(); }

  TlsTestEnd client;
  TlsTestEnd server;
  std::optional<absl::Status> connected;
  ConnectionOptions marks;  // of the client

 private:
  ConformanceHarness& harness_;
  Transport& dials_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TESTING_TLS_PEERS_H_
