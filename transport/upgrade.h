// SPDX-License-Identifier: Apache-2.0
//
// What a connection is upgraded to: a second Transport that is not dialled by the
// user's address but by an offer that the server made on the first connection. The
// link (transport/link) knows RDMA by this header alone.

#ifndef FARCALL_TRANSPORT_UPGRADE_H_
#define FARCALL_TRANSPORT_UPGRADE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/brpc_end.h"
#include "transport/fabric_port.h"
#include "transport/peer_trust.h"
#include "transport/rail_ports.h"
#include "transport/transport.h"

namespace farcall {

// Random bytes, handed out on a TCP connection; they admit one connection that shows them.
using UpgradeToken = std::array<uint8_t, 16>;

// Of an offer: what is beyond is not made, and not read.
constexpr size_t kMaxOffered = 16;

// Where a server can be reached: by rdma_cm at an address, or at a port.
struct UpgradeAddress {
  Address address;  // IPv4 or IPv6, with a port; of a FabricPort its GID, for people
  std::string device;
  LinkLayer link_layer = LinkLayer::kUnknown;
  std::optional<FabricPort> port = std::nullopt;
  // Of the device's port; 0 and none: unknown, as with those of the first release.
  uint32_t rate = 0;                                   // Mb/s
  std::optional<uint32_t> connections = std::nullopt;  // that use it at the server
  uint16_t partition = 0;                              // the key of set-up over TCP; 0: unknown
};

// Of one message between two ends of a set-up.
constexpr size_t kMaxSetUpBytes = 1024;

// What the two ends show each other when they connect.
struct UpgradePass {
  UpgradeToken token{};     // the dialling end
  uint32_t generation = 0;  // of the link, see transport/link/stream/switching_stream.h
  // The awaiting end, when it has seen the token. All zeros: nothing, as those of the first
  // release.
  UpgradeToken answer{};
};

// Of a client that takes up an offer.
struct OfferConnectOptions {
  ConnectionOptions connection;
  Duration timeout = std::chrono::seconds(1);  // > 0, over all addresses
  // Those that the connection has. Another one goes over other ports where it can.
  std::vector<RailPorts> rails;
  // It must: over a port that none of them uses, at both ends, else kAlreadyExists.
  bool apart = false;
};

// What was asked for, and is still awaited. Its end withdraws it: with the loop held on which it
// was asked for, no callback comes afterwards. May outlive neither loop nor transport.
class UpgradeTicket {
 public:
  virtual ~UpgradeTicket() = default;
  // What the other end's SendSetUp was given, with the loop held. Whatever it is, it harms this
  // set-up at most.
  virtual void OnSetUp(absl::string_view) {}
};

// A queue pair to an end that is brpc, for which the hellos on a TCP connection are the whole
// set-up (transport/brpc). With the loop held on which it was asked for. Its end gives up what is
// not open yet; no callback comes afterwards. May outlive neither loop nor transport.
class BrpcPair {
 public:
  using OnJoin = absl::AnyInvocable<void(const absl::Status&)>;

  virtual ~BrpcPair() = default;
  // Who did not know the other end when it asked: what that says of itself. OK: what the other end
  // sends is received from now on.
  virtual void Join(const BrpcEnd& peer, OnJoin done) = 0;
  // Both ends have decided for RDMA. The Connection has what came before, and may be written to.
  virtual void Open(Transport::OnConnect done) = 0;
  // The TCP connection beside the Connection has ended. What had come before is delivered, then its
  // handler is notified.
  virtual void EndOfPeer() = 0;
};

// Who asks for one.
struct BrpcWish {
  ConnectionOptions connection;
  std::optional<BrpcEnd> peer;  // a server knows it
  Address local;                // of the TCP connection
};

class UpgradeTransport {
 public:
  // With the loop held, later, once.
  using OnAvailable = absl::AnyInvocable<void(const absl::Status&)>;
  using OnOffer = absl::AnyInvocable<void(absl::StatusOr<std::vector<UpgradeAddress>>)>;
  using OnAdmit = absl::AnyInvocable<void(std::unique_ptr<Connection>)>;
  using OnCome = absl::AnyInvocable<void()>;
  using OnBrpcEnd = absl::AnyInvocable<void(const absl::StatusOr<BrpcEnd>&)>;
  // A message for the other end's ticket, at most kMaxSetUpBytes. Called with the loop held, while
  // the ticket lives.
  using SendSetUp = absl::AnyInvocable<void(const std::string&)>;

  // Outlives its tickets and connections, and the loops' last turn.
  virtual ~UpgradeTransport() = default;

  // All with `loop` held. Errors carry their reason (why_not_rdma.h).

  // Whether this host can do it now: looks for devices if it has not, or if it is long
  // ago. Milliseconds the first time.
  virtual void Probe(EventLoop& loop, OnAvailable done) = 0;

  // Client: tries `addresses` in turn (the first that resolves, routes and accepts is
  // taken), all within options.timeout. The Connection is ready to be written to. Destroying
  // the ticket gives up; `done` is not called then.
  virtual std::unique_ptr<UpgradeTicket> ConnectToOffer(
      EventLoop& loop, std::vector<UpgradeAddress> addresses, const UpgradePass& pass,
      const OfferConnectOptions& options, SendSetUp send, Transport::OnConnect done) = 0;

  // Server: `offered` says where to connect to, or why not; then whoever shows the token of `pass`
  // at one of these places becomes a Connection on this loop. The token is void as soon as it was
  // shown, whatever comes of it. Untrusted peers are given less; TrustPeer of the
  // Connection says when a peer is trusted.
  virtual std::unique_ptr<UpgradeTicket> Await(EventLoop& loop, const UpgradePass& pass,
                                               const ConnectionOptions& options, PeerTrust trust,
                                               SendSetUp send, OnOffer offered,
                                               OnAdmit admitted) = 0;

  // Calls `come` each time that something came here which may make good what failed before: a
  // device, a port, an address. Until the ticket is destroyed, which is not from inside `come`.
  virtual std::unique_ptr<UpgradeTicket> Watch(EventLoop& loop, OnCome come) = 0;

  // `made`: what the other end needs to know; its receives are posted. Where the peer is known it
  // is joined too.
  virtual std::unique_ptr<BrpcPair> MakeForBrpc(EventLoop& loop, const BrpcWish& wish,
                                                OnBrpcEnd made) = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_UPGRADE_H_
