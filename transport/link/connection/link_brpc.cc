// SPDX-License-Identifier: Apache-2.0
//
// A LinkConnection whose peer is brpc.

#include <utility>

#include "transport/link/connection/link_connection.h"

namespace farcall {

std::unique_ptr<LinkConnection> LinkConnection::SayBrpcHello(Parts parts, OnHello done) {
  std::unique_ptr<LinkConnection> made(new LinkConnection(std::move(parts), LinkRole::kClient));
  made->on_hello_ = std::move(done);
  made->brpc_hello_ = true;
  made->handshake_ = NewBrpcClientHandshake(made->HandshakeParts(), made->parts_.options);
  return made;
}

void LinkConnection::MeetBrpc() {
  brpc_hello_ = true;
  next_handshake_ = NewBrpcServerHandshake(HandshakeParts(), parts_.options,
                                           /*allow_untrusted=*/!parts_.introduction.verify);
}

void LinkConnection::BecomeBrpc(Handshaken result) {
  loop_.CancelTimer(required_timer_);
  phase_ = Phase::kBrpc;
  why_ = absl::OkStatus();
  was_on_rdma_ = true;
  ++info_version_;
  brpc_ = std::make_unique<BrpcStream>(
      BrpcStream::Parts{.lifeline = *parts_.tcp,
                        .rdma = std::move(result.rdma),
                        .pair = std::move(result.pair),
                        .on_end = [this](const absl::Status& why) { OnBrpcEnd(why); }});
  parts_.settings->record->OnUpgrade(LogName());
  NotifyUpgrade();
  if (handler_ != nullptr) return StartBrpc();
  parts_.tcp->PauseRead();
}

void LinkConnection::StartBrpc() {
  reads_ = MayRead();
  brpc_->Start(*handler_, /*paused=*/!reads_);
  parts_.tcp->ResumeRead();
  if (!early_.empty()) brpc_->Write(std::exchange(early_, Buffer()));
}

void LinkConnection::OnBrpcEnd(const absl::Status& why) {
  phase_ = Phase::kClosed;
  closed_ = why;
  NotifyUpgrade();
  const absl::Status reason = why;
  handler_->OnClose(reason);
}

}  // namespace farcall
