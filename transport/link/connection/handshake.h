// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_HANDSHAKE_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_HANDSHAKE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/buffer/buffer.h"
#include "transport/link/connection/link_settings.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// What the first bytes of a connection came to.
struct Handshaken {
  enum class Kind : uint8_t {
    kLinked,  // link frames follow, both ways
    kPlain,   // plain bytes do, for `why` it is not linked
    // Server: brpc's RDMA hello stands in the input.
    kBrpcHello,
    // RDMA on brpc's wire from here on: `rdma` carries it.
    kBrpc,
    // Client: the connection is spoilt by the hello.
    kSilent,   // the peer did not answer in time
    kNoHello,  // it knows no hello: it closed, or said something else
    kClosed,   // garbage or half a hello: close it, for `why`
  };

  Kind kind = Kind::kPlain;
  size_t peer_window = 0;  // kLinked: bytes that the peer takes
  uint32_t rails = 1;      // kLinked: generations at the same time, as both ends agreed
  absl::Status why{};
  bool missed = true;                  // kPlain: it is counted as one that stays on TCP
  std::unique_ptr<Connection> rdma{};  // kBrpc: not started
  std::unique_ptr<BrpcPair> pair{};    // kBrpc: its own
};

// One end's hello on a TCP connection that is started. With the loop held.
class Handshake {
 public:
  struct Parts {
    EventLoop& loop;
    Connection& tcp;  // outlives it
    std::shared_ptr<const LinkSettings> settings;
    // Once, from the loop's top level: OnRead, OnClosed or a timer. What stands behind the
    // hello is left in the input.
    absl::AnyInvocable<void(Handshaken result) const> done;
  };

  virtual ~Handshake() { parts_.loop.CancelTimer(timer_); }
  // As Connection::Handler.
  virtual size_t OnRead(Buffer& input) = 0;
  virtual void OnClosed() = 0;
  // This end has something to write, and cannot yet.
  virtual void OnWaiting() {}
  // Bytes that belonged to the hello and its answer.
  size_t bytes_read() const { return read_; }
  size_t bytes_written() const { return written_; }

 protected:
  explicit Handshake(Parts parts) : parts_(std::move(parts)), timer_([this] { OnTime(); }) {}

  virtual void OnTime() = 0;
  // In the place of the time before.
  void StartTimer(Duration timeout) {
    parts_.loop.CancelTimer(timer_);
    parts_.loop.SetTimer(timer_, parts_.loop.now() + timeout);
  }
  bool waits() const { return timer_.pending(); }
  void Say(const std::string& bytes) {
    written_ += bytes.size();
    parts_.tcp.Write(Buffer(bytes));
  }
  // Nothing follows: what else it comes to counts no more, and time neither.
  bool over() const { return over_; }
  void Stop() {
    over_ = true;
    parts_.loop.CancelTimer(timer_);
  }
  void Done(Handshaken result) {
    if (over_) return;
    Stop();
    // It was paused if something else than bytes was waited for.
    parts_.tcp.ResumeRead();
    parts_.done(std::move(result));
  }

  const Parts parts_;
  size_t read_ = 0;

 private:
  size_t written_ = 0;
  bool over_ = false;
  Timer timer_;
};

// Says hello. `timeout`: for the answer.
std::unique_ptr<Handshake> NewClientHandshake(Handshake::Parts parts, Duration timeout);
// Listens for one. If `unwanted` is not OK, it declines with that reason.
std::unique_ptr<Handshake> NewServerHandshake(Handshake::Parts parts, absl::Status unwanted);

// The same by brpc's hello (transport/brpc), for a queue pair with `options`. The client says
// nothing if it can make none; kNoHello: whatever else came of it, for `why`.
std::unique_ptr<Handshake> NewBrpcClientHandshake(Handshake::Parts parts,
                                                  const ConnectionOptions& options);
// Of a connection that begins with it. `allow_untrusted`: whoever has shown no credential may have
// RDMA.
std::unique_ptr<Handshake> NewBrpcServerHandshake(Handshake::Parts parts,
                                                  const ConnectionOptions& options,
                                                  bool allow_untrusted);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_HANDSHAKE_H_
