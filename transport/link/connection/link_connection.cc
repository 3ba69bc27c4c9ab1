// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/link_connection.h"

#include <algorithm>
#include <utility>

#include "transport/base/check.h"
#include "transport/why_not_rdma.h"

namespace farcall {

std::unique_ptr<LinkConnection> LinkConnection::SayHello(Parts parts, Duration timeout,
                                                         OnHello done) {
  std::unique_ptr<LinkConnection> made(new LinkConnection(std::move(parts), LinkRole::kClient));
  made->on_hello_ = std::move(done);
  made->handshake_ = NewClientHandshake(made->HandshakeParts(), timeout);
  return made;
}

std::unique_ptr<LinkConnection> LinkConnection::Plain(Parts parts, const absl::Status& why) {
  std::unique_ptr<LinkConnection> made(new LinkConnection(std::move(parts), LinkRole::kClient));
  made->BecomePlain(why, /*missed=*/true);
  return made;
}

std::unique_ptr<LinkConnection> LinkConnection::Accept(Parts parts, const absl::Status& unwanted) {
  std::unique_ptr<LinkConnection> made(new LinkConnection(std::move(parts), LinkRole::kServer));
  made->handshake_ = NewServerHandshake(made->HandshakeParts(), unwanted);
  if (made->requires_rdma()) {
    const Duration timeout = made->parts_.settings->options.require_timeout;
    made->loop_.SetTimer(made->required_timer_, made->loop_.now() + timeout);
  }
  return made;
}

LinkConnection::LinkConnection(Parts parts, LinkRole role)
    : parts_(std::move(parts)),
      loop_(parts_.loop),
      role_(role),
      why_(NotRdma(WhyNotRdma::kPending, "")),
      required_timer_([this] { OnRequiredTimeout(); }) {
  parts_.tcp->Start(*this);
}

LinkConnection::~LinkConnection() {
  Check(loop_.held(), "a connection is destroyed while its loop is held");
  loop_.CancelTimer(required_timer_);
}

Handshake::Parts LinkConnection::HandshakeParts() {
  return {.loop = loop_,
          .tcp = *parts_.tcp,
          .settings = parts_.settings,
          .done = [this](Handshaken result) { OnHandshaken(std::move(result)); }};
}

void LinkConnection::Start(Handler& handler) {
  Check(loop_.held() && handler_ == nullptr, "a connection is started once, on its loop");
  handler_ = &handler;
  if (phase_ == Phase::kClosed) return Finish(closed_);
  if (phase_ == Phase::kBrpc) return StartBrpc();
  if (phase_ == Phase::kLinked) linked_->Start(handler);
  Govern();
}

void LinkConnection::Write(Buffer data) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is written to");
  switch (phase_) {
    case Phase::kHello:
      early_.Append(std::move(data));
      if (!early_.empty()) handshake_->OnWaiting();
      return;
    case Phase::kPlain:
      return WritePlain(std::move(data));
    case Phase::kLinked:
      return linked_->Write(std::move(data));
    case Phase::kBrpc:
      return brpc_->Write(std::move(data));
    case Phase::kClosed:
      return;
  }
}

void LinkConnection::PauseRead() {
  paused_ = true;
  Govern();
}

void LinkConnection::ResumeRead() {
  paused_ = false;
  Govern();
}

void LinkConnection::Close(absl::Status why, CloseMode mode) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is closed");
  loop_.CancelTimer(required_timer_);
  if (phase_ == Phase::kHello) {
    // The peer has said nothing yet that would make it more.
    handshake_->OnClosed();
    phase_ = Phase::kPlain;
    // Whoever waits for the answer to another hello would take it for that.
    if (brpc_hello_) early_.Clear();
    WritePlain(std::exchange(early_, Buffer()));
  }
  if (phase_ == Phase::kPlain) parts_.tcp->Close(std::move(why), mode);
  if (phase_ == Phase::kLinked) linked_->Close(std::move(why), mode);
  if (phase_ == Phase::kBrpc) brpc_->Close(std::move(why), mode);
}

size_t LinkConnection::backlog() const {
  switch (phase_) {
    case Phase::kHello:
      return early_.size();
    case Phase::kPlain:
      return std::min<uint64_t>(parts_.tcp->backlog(), plain_);
    case Phase::kLinked:
      return linked_->backlog();
    case Phase::kBrpc:
      return brpc_->backlog();
    case Phase::kClosed:
      break;
  }
  return 0;
}

void LinkConnection::TrustPeer() {
  if (phase_ == Phase::kLinked) linked_->TrustPeer();
  if (phase_ == Phase::kBrpc) brpc_->TrustPeer();
}

void LinkConnection::WhenUpgraded(OnUpgrade done) {
  on_upgrade_ = std::move(done);
  NotifyUpgrade();
}

size_t LinkConnection::OnRead(Buffer& input) {
  size_t needed = 0;
  if (phase_ == Phase::kHello) needed = handshake_->OnRead(input);
  if (next_handshake_ != nullptr) {
    handshake_ = std::move(next_handshake_);
    needed = handshake_->OnRead(input);
  }
  // It may have become something else just now.
  if (phase_ == Phase::kPlain && reads_ && !input.empty()) return handler_->OnRead(input);
  if (phase_ == Phase::kLinked) return linked_->OnLifelineRead(input);
  if (phase_ == Phase::kBrpc && handler_ != nullptr) brpc_->OnLifelineRead(input);
  return needed;
}

// Without a link the bytes of TCP are those of the handler; frames of a link lie between them.
Buffer LinkConnection::PlaceFor(size_t ahead, size_t bytes) {
  if (phase_ != Phase::kPlain || !reads_ || handler_ == nullptr) return {};
  return handler_->PlaceFor(ahead, bytes);
}

void LinkConnection::OnDrained() {
  if (phase_ == Phase::kPlain && handler_ != nullptr) handler_->OnDrained();
  if (phase_ == Phase::kLinked) linked_->OnLifelineDrained();
}

void LinkConnection::OnClose(const absl::Status& why) {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kLinked) return linked_->OnLifelineEnd(why);
  if (phase_ == Phase::kBrpc) return brpc_->OnLifelineEnd(why);
  if (phase_ == Phase::kHello) handshake_->OnClosed();
  loop_.CancelTimer(required_timer_);
  phase_ = Phase::kClosed;
  closed_ = why;
  NotifyUpgrade();
  if (handler_ != nullptr) handler_->OnClose(why);
}

void LinkConnection::OnHandshaken(Handshaken result) {
  if (phase_ != Phase::kHello) return;
  const Handshaken::Kind kind = result.kind;
  switch (kind) {
    case Handshaken::Kind::kBrpcHello:
      return MeetBrpc();
    case Handshaken::Kind::kBrpc:
      BecomeBrpc(std::move(result));
      break;
    case Handshaken::Kind::kLinked:
      BecomeLinked(result);
      break;
    case Handshaken::Kind::kPlain:
      BecomePlain(result.why, result.missed);
      break;
    case Handshaken::Kind::kSilent:
    case Handshaken::Kind::kNoHello:
      if (!result.why.ok()) why_ = result.why;
      phase_ = Phase::kClosed;
      break;
    case Handshaken::Kind::kClosed:
      Finish(result.why);
      break;
  }
  if (!on_hello_) return;
  hello_call_.Post(loop_, [this, kind] { std::exchange(on_hello_, nullptr)(kind); });
}

void LinkConnection::WritePlain(Buffer data) {
  if (data.empty()) return;
  plain_ += data.size();
  parts_.tcp->Write(std::move(data));
}

void LinkConnection::BecomePlain(const absl::Status& why, bool missed) {
  phase_ = Phase::kPlain;
  why_ = why;
  ++info_version_;
  if (missed) Record();
  NotifyUpgrade();
  if (requires_rdma() && role_ == LinkRole::kServer) return Finish(why);
  WritePlain(std::exchange(early_, Buffer()));
  Govern();
}

void LinkConnection::BecomeLinked(const Handshaken& result) {
  linked_ = std::make_unique<LinkedStream>(
      LinkedStream::Parts{.loop = loop_,
                          .lifeline = *parts_.tcp,
                          .role = role_,
                          .settings = parts_.settings,
                          .options = parts_.options,
                          .introduction = parts_.introduction,
                          .peer_window = result.peer_window,
                          .rails = result.rails,
                          .peer = parts_.tcp->info().peer_name(),
                          .log_name = LogName(),
                          .on_change = [this] { OnLinkChange(); },
                          .on_end = [this](const absl::Status& why) { Finish(why); }});
  if (handler_ != nullptr) linked_->Start(*handler_);
  phase_ = Phase::kLinked;
  ++info_version_;
  reads_ = false;
  if (!early_.empty()) linked_->Write(std::exchange(early_, Buffer()));
  Govern();
}

bool LinkConnection::MayRead() const {
  return handler_ != nullptr && !paused_ && (!requires_rdma() || was_on_rdma_);
}

// Pauses or resumes reading of the layer below.
void LinkConnection::Govern() {
  if (phase_ == Phase::kHello || phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kBrpc && handler_ == nullptr) return;
  const bool before = std::exchange(reads_, MayRead());
  if (reads_ == before) return;
  if (phase_ == Phase::kPlain) {
    reads_ ? parts_.tcp->ResumeRead() : parts_.tcp->PauseRead();
  } else if (phase_ == Phase::kBrpc) {
    reads_ ? brpc_->ResumeRead() : brpc_->PauseRead();
  } else {
    reads_ ? linked_->ResumeRead() : linked_->PauseRead();
  }
}

void LinkConnection::OnLinkChange() {
  ++info_version_;
  if (linked_->on_rdma()) {
    was_on_rdma_ = true;
    loop_.CancelTimer(required_timer_);
    Govern();
  } else if (was_on_rdma_ && requires_rdma() && linked_->may_upgrade()) {
    // Not so at an end in order, where RDMA goes first.
    parts_.settings->record->OnRequiredLost(LogName(), linked_->why_not());
    return linked_->Close(AddDetail(linked_->why_not(), parts_.tcp->info().peer_name()),
                          CloseMode::kAbort);
  }
  NotifyUpgrade();
}

void LinkConnection::OnRequiredTimeout() {
  absl::Status why = why_not_rdma();
  if (ReasonOf(why) == WhyNotRdma::kPending) why = NotRdma(WhyNotRdma::kTimedOut, "");
  if (phase_ == Phase::kLinked) return linked_->Close(why, CloseMode::kAbort);
  Finish(why);
}

// OnClose follows, once there is a handler.
void LinkConnection::Finish(const absl::Status& why) {
  phase_ = Phase::kClosed;
  closed_ = why;
  early_ = Buffer();
  loop_.CancelTimer(required_timer_);
  parts_.tcp->Close(why, CloseMode::kAbort);
  NotifyUpgrade();
  if (handler_ == nullptr) return;
  close_call_.Post(loop_, [this] {
    const absl::Status reason = closed_;
    handler_->OnClose(reason);
  });
}

}  // namespace farcall
