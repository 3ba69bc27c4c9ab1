// SPDX-License-Identifier: Apache-2.0
//
// The seam between calls and bytes. A Transport makes Connections; a Connection
// is an ordered, reliable stream of bytes in shared blocks. TCP, RDMA, the link
// that switches between them, and the simulated network are each a Transport,
// and the suite in transport/testing holds all of them to this page.
//
// Threads: a Connection belongs to one EventLoop for life. All its methods, the
// Handler's and the destructor run while that loop is held (see
// loop/event_loop.h), on whichever thread holds it.

#ifndef FARCALL_TRANSPORT_TRANSPORT_H_
#define FARCALL_TRANSPORT_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/connection_info.h"

namespace farcall {

class EventLoop;
class LoopGroup;

// Whether a connection is to be upgraded to RDMA. Only the link (transport/link) knows what to
// do with it; the transports under it make plain connections.
enum class UseRdma : uint8_t {
  kNo,
  kPrefer,   // TCP carries the bytes until RDMA does, and whenever it cannot
  kRequire,  // no connection without it: errors carry the reason (why_not_rdma.h)
};

enum class CloseMode : uint8_t {
  kFlush,  // what was written leaves first, within ConnectionOptions::close_timeout
  kAbort,  // at once; what was not sent yet is dropped
};

struct ConnectionOptions {
  // OnDrained is called when backlog() was above `high_water` and is below `low_water`
  // again. Bytes; low_water < high_water.
  size_t high_water = size_t{4} << 20;
  size_t low_water = size_t{1} << 20;
  // How long a Close(kFlush) may take before it aborts.
  Duration close_timeout = std::chrono::seconds(3);
  // DSCP << 2 | ECN: IP_TOS, IPV6_TCLASS, and the service type of a queue pair. 0 to
  // 255; nothing on unix sockets.
  int traffic_class = 0;

  absl::Status Validate() const;
};

class Connection {
 public:
  // No callback comes from inside a call of a method of the Connection.
  class Handler {
   public:
    // More bytes stand at the end of `input`, which keeps what was left in it.
    // Take whole messages, leave the rest; return how many bytes the message at
    // its front needs in all, as far as that is known (0: not known).
    virtual size_t OnRead(Buffer& input) = 0;
    // Memory for the bytes [ahead, ahead + bytes) of the stream, counted from the end of what
    // was handed over by OnRead, if they have a place of their own: at most `bytes`, the
    // first of them first. Empty: the connection takes blocks of its pool. The connection
    // alone writes there, from now until it drops its references, and what it has written
    // comes by OnRead as slices of the same blocks. Asked only between calls of OnRead.
    // Asked by a connection that fetches bytes (RDMA), it may call PauseRead from inside: then they
    // wait, and it is asked again after ResumeRead.
    virtual Buffer PlaceFor(size_t /*ahead*/, size_t /*bytes*/) { return {}; }
    // For a connection that writes to what PlaceFor gave after it has returned, as a device does.
    // Asked right after, and dropped, with the loop held, when nothing is written there any more:
    // the bytes came, or the device has let go of the memory, which may be later than OnClose and
    // the end of the Connection. Until then the handler gives the memory to no one. Null: no need
    // to wait.
    virtual std::shared_ptr<void> HoldPlace() { return nullptr; }
    // While it has paused: PlaceFor will know of a place in a moment. Who has bytes that need not
    // be read yet waits for that, for a while; who reads them at once finds no place.
    virtual bool AwaitsPlace() const { return false; }
    // backlog() was above the high-water mark and fell below the low-water mark.
    virtual void OnDrained() = 0;
    // The last call, exactly once after Start, whoever closed: `why` is what Close was
    // given, or what broke (kUnavailable "closed by peer" at an orderly end). The
    // Connection may be destroyed here, and in no other callback.
    virtual void OnClose(const absl::Status& why) = 0;

   protected:
    ~Handler() = default;
  };

  // Without OnClose: what was not sent is dropped.
  virtual ~Connection() = default;

  // Once, first. `handler` outlives the Connection or its OnClose.
  virtual void Start(Handler& handler) = 0;
  // Queues; the bytes leave at the end of the loop's turn. Never blocks or fails: errors
  // come by OnClose. After Close the bytes are dropped.
  virtual void Write(Buffer data) = 0;
  // Instead of Write(head + body), by who is at the end of the loop's turn: sends the bytes now, a
  // copy of them. False: it did nothing, since they are many, or others must leave before them.
  virtual bool SendNow(absl::string_view /*head*/, const Buffer& /*body*/) { return false; }
  // Reading stops (bytes already handed over stay in `input`) and goes on. Not counted.
  // After ResumeRead, OnRead comes again for what was left in `input`, new bytes or not.
  virtual void PauseRead() = 0;
  virtual void ResumeRead() = 0;
  // OnClose(why) follows, later. A second Close counts only if it is the first kAbort.
  // After Close, OnRead and OnDrained are not called any more.
  virtual void Close(absl::Status why, CloseMode mode) = 0;
  // Bytes accepted by Write and not yet taken by the kernel or the device: of those bytes alone,
  // whatever frames or records a connection wraps them in, and none that the peer has read. Rises
  // by Write only.
  virtual size_t backlog() const = 0;
  // Bytes that the kernel has taken and the peer's has not acknowledged, where that is known; else
  // 0.
  virtual size_t unacknowledged() const { return 0; }
  // Its blocks leave without a copy. Outlives the Connection; any thread.
  virtual BlockPool& pool() = 0;
  virtual ConnectionInfo info() const = 0;
  // Counts up when info() tells another transport, reason or device, so that who keeps
  // an info need not ask for a new one each time.
  virtual uint64_t info_version() const { return 0; }
  // Server: its handler knows who the peer is, by a credential or by a good request. What untrusted
  // peers are given beside the bytes of the connection is limited. Once is enough.
  virtual void TrustPeer() {}
};

// Accepts until it is destroyed or closed. Any thread.
class Listener {
 public:
  // As Close.
  virtual ~Listener() = default;
  // With the port that the system chose, where 0 was asked for.
  virtual const Address& address() const = 0;
  // Who has connected by now is accepted if that takes no longer than a second. No
  // OnAccept begins after this has returned; connections made before live on.
  // Not from inside OnAccept or while a loop is held.
  virtual void Close() = 0;
};

// Keys and certificates as TLS needs them, loaded (transport/tls). Any thread.
class TlsClientContext {
 public:
  virtual ~TlsClientContext() = default;
};
class TlsServerContext {
 public:
  virtual ~TlsServerContext() = default;
};

struct ConnectOptions {
  ConnectionOptions connection;
  Duration timeout = std::chrono::seconds(1);  // > 0; with TLS, its handshake included
  UseRdma rdma = UseRdma::kNo;                 // kRequire: the timeout once more, for RDMA
  std::shared_ptr<TlsClientContext> tls;       // null: none
  std::string tls_name;  // whom the certificate must name, where `tls` says nothing of it
  // use_rdma was asked for and TLS forbids it: what ConnectionInfo tells then.
  bool tls_forbids_rdma = false;
  // What is shown to ListenOptions::verify when RDMA is asked for. Null, or an empty one: nothing.
  // With the loop held.
  std::function<std::string()> credential;
  // Who knows no hello of ours may be brpc: RDMA is tried with brpc's, too.
  bool peers_may_be_brpc = false;
  // With kPrefer: the reason why there is a plain connection, which this one would replace. It is
  // linked (ConnectionInfo::linked) or has RDMA on brpc's wire, or the error has the reason why
  // not. A peer that has shown that it knows no hello (kPeerSilent) is asked again only if it has
  // ever answered one; with peers_may_be_brpc, also with brpc's hello.
  std::optional<WhyNotRdma> instead_of;
};

struct ListenOptions {
  ConnectionOptions connection;
  int backlog = 1024;  // connections that the kernel keeps waiting, listen(2)
  // kNo: clients that ask for RDMA get an answer that says so. kRequire: Listen waits until it is
  // known whether this host has RDMA, and fails without.
  UseRdma rdma = UseRdma::kNo;
  std::shared_ptr<TlsServerContext> tls;  // null: none
  bool tls_forbids_rdma = false;          // as in ConnectOptions
  // Not null: a connection gets no RDMA before its TrustPeer was called, or its client has
  // shown a credential for which this is true. With the connection's loop held.
  std::function<bool(absl::string_view credential, const Address& client)> verify;
};

class Transport {
 public:
  // With `loop` held, never from inside Connect; exactly once, within the timeout (the link
  // has a few steps with a time each: link_connector.h).
  using OnConnect = absl::AnyInvocable<void(absl::StatusOr<std::unique_ptr<Connection>>)>;
  // With the new Connection's loop held. Several may run at once, one a loop.
  using OnAccept = absl::AnyInvocable<void(EventLoop&, std::unique_ptr<Connection>) const>;

  // Outlives its Listeners and Connections, and the loops' last turn.
  virtual ~Transport() = default;

  // With `loop` held; the Connection belongs to it. Errors name the peer.
  virtual void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                       OnConnect done) = 0;
  // Any thread, no loop held. Connections are spread over `loops`, which outlive the
  // Listener. Errors name the address.
  virtual absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                           const ListenOptions& options,
                                                           OnAccept on_accept) = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TRANSPORT_H_
