// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_BRPC_STREAM_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_BRPC_STREAM_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/buffer/buffer.h"
#include "transport/connection_info.h"
#include "transport/transport.h"
#include "transport/upgrade.h"

namespace farcall {

// A connection that brpc's handshake has taken to RDMA. The bytes travel there alone. The TCP
// connection is the sign of life, since neither end hears of the other one's queue pair: nothing
// may come on it, and its end is that of both. With the loop held.
class BrpcStream final : private Connection::Handler {
 public:
  struct Parts {
    Connection& lifeline;  // started; outlives it
    std::unique_ptr<Connection> rdma;
    std::unique_ptr<BrpcPair> pair;
    // The last call, from a callback of either connection; both are over.
    absl::AnyInvocable<void(const absl::Status&) const> on_end;
  };

  explicit BrpcStream(Parts parts) : parts_(std::move(parts)) {}
  BrpcStream(const BrpcStream&) = delete;
  BrpcStream& operator=(const BrpcStream&) = delete;

  // Before anything below, once; the lifeline is not read before. `handler` gets all but OnClose.
  void Start(Connection::Handler& handler, bool paused);

  // The lifeline's Handler.
  void OnLifelineRead(Buffer& input);
  void OnLifelineEnd(const absl::Status& why);

  // As those of Connection.
  void Write(Buffer data) { parts_.rdma->Write(std::move(data)); }
  void PauseRead() { parts_.rdma->PauseRead(); }
  void ResumeRead() { parts_.rdma->ResumeRead(); }
  void Close(absl::Status why, CloseMode mode);
  size_t backlog() const { return parts_.rdma->backlog(); }
  void TrustPeer() { parts_.rdma->TrustPeer(); }
  // What RDMA says, at the ends of the lifeline, of which `info` is.
  void Describe(ConnectionInfo& info) const;

 private:
  size_t OnRead(Buffer& input) override { return handler_->OnRead(input); }
  Buffer PlaceFor(size_t ahead, size_t bytes) override { return handler_->PlaceFor(ahead, bytes); }
  std::shared_ptr<void> HoldPlace() override { return handler_->HoldPlace(); }
  void OnDrained() override { handler_->OnDrained(); }
  void OnClose(const absl::Status& why) override;

  const Parts parts_;
  Connection::Handler* handler_ = nullptr;
  bool closing_ = false;                // by Close
  CloseMode mode_ = CloseMode::kAbort;  // of the lifeline, when RDMA is over
  std::optional<absl::Status> lifeline_end_;
  std::optional<absl::Status> rdma_end_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_BRPC_STREAM_H_
