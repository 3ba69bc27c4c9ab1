// SPDX-License-Identifier: Apache-2.0
//
// How a TlsConnection ends, and what it tells of itself.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "transport/base/errno_status.h"
#include "transport/tls/tls_connection.h"

namespace farcall {

ConnectionInfo TlsConnection::info() const {
  ConnectionInfo info = inner_->info();
  info.bytes_read = bytes_read_;
  info.bytes_written = bytes_written_;
  if (forbids_rdma_) info.why_not_rdma = WhyNotRdma::kTls;
  info.tls = phase_ == Phase::kHandshake ? "handshake" : engine_->Version();
  info.tls_peer = engine_->PeerSubject();
  return info;
}

void TlsConnection::EndByPeer() {
  engine_->Shut();
  SendOutput();
  // A peer that ends without reading what was sent to it gets no time to do so.
  const CloseMode mode = inner_->backlog() > inner_high_ ? CloseMode::kAbort : CloseMode::kFlush;
  End(ClosedByPeer(), mode);
}

void TlsConnection::OnDeadline() {
  if (closing_ || phase_ == Phase::kEnding) return End(why_, CloseMode::kAbort);
  const absl::Duration timeout = absl::FromChrono(handshake_timeout_);
  End(absl::DeadlineExceededError(
          absl::StrCat("no end of the TLS handshake with ", inner_->info().peer_name(), " within ",
                       absl::FormatDuration(timeout),
                       server_ ? "; this port speaks TLS" : "; does it speak TLS?")),
      CloseMode::kAbort);
}

// OnClose follows.
void TlsConnection::End(absl::Status why, CloseMode mode) {
  phase_ = Phase::kEnding;
  why_ = std::move(why);
  queue_ = Buffer();
  loop_.CancelTimer(soon_);
  loop_.ForgetFlush(*this);
  inner_->Close(why_, mode);
}

void TlsConnection::OnClose(const absl::Status& why) {
  if (phase_ == Phase::kEnding) {
    why_ = why;
  } else if (!closing_) {
    why_ = peer_ended_ ? ClosedByPeer() : EndedEarly(why);
  }
  phase_ = Phase::kClosed;
  loop_.CancelTimer(soon_);
  loop_.CancelTimer(deadline_);
  loop_.ForgetFlush(*this);
  queue_ = Buffer();
  plain_.Clear();
  if (on_ready_) return NotifyReady(why_);
  const absl::Status reason = why_;
  if (handler_ != nullptr) handler_->OnClose(reason);
}

void TlsConnection::NotifyReady(const absl::Status& status) {
  if (!on_ready_) return;
  ready_call_.Post(
      loop_, [status, ready = std::exchange(on_ready_, nullptr)]() mutable { ready(status); });
}

absl::Status TlsConnection::ClosedByPeer() const {
  return absl::UnavailableError(absl::StrCat("closed by peer ", inner_->info().peer_name()));
}

// A client that connects is named by the error of that.
absl::Status TlsConnection::Failed() const {
  if (phase_ == Phase::kHandshake && !server_) return engine_->error();
  return Annotate(engine_->error(), inner_->info().peer_name());
}

// The connection below ended, without a close_notify: RFC 8446 section 6.1.
absl::Status TlsConnection::EndedEarly(const absl::Status& why) const {
  if (phase_ == Phase::kHandshake) {
    return Annotate(why, server_ ? "the TLS handshake was cut off"
                                 : "the TLS handshake was cut off; does it speak TLS?");
  }
  return Annotate(why, absl::StrCat("TLS with ", inner_->info().peer_name(),
                                    " ended without close_notify, so something may be cut off"));
}

}  // namespace farcall
