// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"

namespace farcall {

// Below options.low_water: then either the connection below is above its mark and will tell when it
// drains, or all that was written is within the low-water mark of this one.
ConnectionOptions TlsConnection::InnerOptions(ConnectionOptions options) {
  if (!options.Validate().ok()) return options;
  options.high_water = std::max<size_t>(1, std::min(options.low_water, kMaxEncrypted));
  options.low_water = options.high_water / 4;
  return options;
}

std::unique_ptr<TlsConnection> TlsConnection::Connect(Parts parts, OnReady ready) {
  std::unique_ptr<TlsConnection> made(new TlsConnection(std::move(parts), /*server=*/false));
  made->on_ready_ = std::move(ready);
  Buffer nothing;
  made->Handshake(nothing);
  return made;
}

std::unique_ptr<TlsConnection> TlsConnection::Accept(Parts parts) {
  return std::unique_ptr<TlsConnection>(new TlsConnection(std::move(parts), /*server=*/true));
}

TlsConnection::TlsConnection(Parts parts, bool server)
    : loop_(parts.loop),
      inner_(std::move(parts.inner)),
      engine_(std::move(parts.engine)),
      options_(parts.options),
      inner_high_(InnerOptions(options_).high_water),
      handshake_timeout_(parts.handshake_timeout),
      forbids_rdma_(parts.forbids_rdma),
      server_(server),
      plain_(inner_->pool()),
      soon_([this] { OnSoon(); }),
      deadline_([this] { OnDeadline(); }) {
  loop_.SetTimer(deadline_, parts.handshake_deadline);
  inner_->Start(*this);
}

TlsConnection::~TlsConnection() {
  Check(loop_.held(), "a connection is destroyed while its loop is held");
  loop_.CancelTimer(soon_);
  loop_.CancelTimer(deadline_);
  loop_.ForgetFlush(*this);
}

void TlsConnection::Start(Handler& handler) {
  Check(loop_.held() && handler_ == nullptr, "a connection is started once, on its loop");
  handler_ = &handler;
  if (phase_ == Phase::kClosed) {
    close_call_.Post(loop_, [this] {
      const absl::Status reason = why_;
      handler_->OnClose(reason);
    });
  }
  Govern();
}

void TlsConnection::Write(Buffer data) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is written to");
  if (closing_ || phase_ > Phase::kOpen || data.empty()) return;
  queue_.Append(std::move(data));
  drain_.OnQueued(backlog(), options_.high_water);
  if (phase_ == Phase::kOpen) loop_.FlushLater(*this);
}

void TlsConnection::PauseRead() {
  paused_ = true;
  Govern();
}

void TlsConnection::ResumeRead() {
  if (!std::exchange(paused_, false) || phase_ > Phase::kOpen) return;
  redeliver_ = !plain_.input().empty();
  if (redeliver_ || peer_ended_ || starving_) Soon();
  Govern();
}

void TlsConnection::Close(absl::Status why, CloseMode mode) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is closed");
  if (phase_ == Phase::kClosed) return;
  if (mode == CloseMode::kAbort) return End(std::move(why), CloseMode::kAbort);
  if (closing_ || phase_ == Phase::kEnding) return;
  // Nothing waits for a handshake that may never end, or that the peer has not begun.
  if (phase_ == Phase::kHandshake && (queue_.empty() || !engine_->heard())) {
    return End(std::move(why), CloseMode::kFlush);
  }
  closing_ = true;
  why_ = std::move(why);
  const TimePoint latest = loop_.now() + options_.close_timeout;
  if (phase_ == Phase::kHandshake) {
    loop_.SetTimer(deadline_, std::min(latest, deadline_.when));
    return;
  }
  phase_ = Phase::kFlushing;
  loop_.SetTimer(deadline_, latest);
  loop_.CancelTimer(soon_);
  Govern();
  loop_.FlushLater(*this);
}

size_t TlsConnection::backlog() const {
  if (phase_ == Phase::kHandshake) return queue_.size();
  if (phase_ == Phase::kClosed) return 0;
  return queue_.size() + encrypted_.Own(inner_->backlog());
}

size_t TlsConnection::OnRead(Buffer& input) {
  if (phase_ == Phase::kHandshake) Handshake(input);
  if (phase_ == Phase::kOpen) {
    ReadTurn(input);
  } else if (phase_ != Phase::kHandshake) {
    input.Clear();
  }
  return 0;
}

void TlsConnection::Handshake(Buffer& input) {
  const TlsEngine::Outcome outcome = engine_->Handshake(input);
  SendOutput();
  if (phase_ != Phase::kHandshake || outcome == TlsEngine::Outcome::kMore) return;
  if (outcome != TlsEngine::Outcome::kDone) {
    return End(Failed(), CloseMode::kFlush);
  }
  ++info_version_;
  phase_ = closing_ ? Phase::kFlushing : Phase::kOpen;
  if (!closing_) loop_.CancelTimer(deadline_);
  if (!queue_.empty() || closing_) loop_.FlushLater(*this);
  NotifyReady(absl::OkStatus());
}

void TlsConnection::ReadTurn(Buffer& input) {
  if (!MayRead()) return Govern();
  const size_t before = plain_.input().size();
  const TlsEngine::Outcome outcome = engine_->Read(input, plain_);
  const size_t fresh = plain_.input().size() - before;
  bytes_read_ += fresh;
  // OnSoon reads without what waits below.
  waits_below_ = outcome == TlsEngine::Outcome::kNoMemory && (waits_below_ || !input.empty());
  if (fresh > 0) {
    retry_.Reset();
    starving_since_.reset();
  }
  SendOutput();
  if (phase_ != Phase::kOpen) return;
  if (!queue_.empty()) loop_.FlushLater(*this);
  // Before it is delivered: then nothing more is read.
  if (outcome == TlsEngine::Outcome::kEnded) peer_ended_ = true;
  if (fresh > 0 || redeliver_) Deliver();
  if (phase_ != Phase::kOpen) return;
  switch (outcome) {
    case TlsEngine::Outcome::kDone:
    case TlsEngine::Outcome::kMore:
      return;
    case TlsEngine::Outcome::kEnded:
      if (paused_) return Govern();
      // Reading was paused and resumed in OnRead: OnSoon gives what is left, and ends.
      return redeliver_ ? Soon() : EndByPeer();
    case TlsEngine::Outcome::kNoMemory:
      return Starve();
    case TlsEngine::Outcome::kFailed:
      return End(Failed(), CloseMode::kFlush);
  }
}

void TlsConnection::Deliver() {
  redeliver_ = false;  // unless the handler pauses and resumes in it
  const size_t needed = handler_->OnRead(plain_.input());
  plain_.Expect(needed);
  if (plain_.input().empty()) redeliver_ = false;
}

void TlsConnection::Encrypt() {
  if (phase_ != Phase::kOpen && phase_ != Phase::kFlushing) return;
  while (!queue_.empty() && inner_->backlog() <= inner_high_) {
    const size_t before = queue_.size();
    if (!engine_->Write(queue_)) {
      SendOutput();
      return End(closing_ ? why_ : Failed(), CloseMode::kFlush);
    }
    if (queue_.size() == before) break;  // until ReadTurn
    bytes_written_ += before - queue_.size();
    SendOutput(before - queue_.size());
  }
  SendOutput();
  if (phase_ == Phase::kFlushing && queue_.empty()) {
    engine_->Shut();
    SendOutput();
    return End(why_, CloseMode::kFlush);
  }
  CheckDrained();
}

// `plain`: bytes of the caller in it.
void TlsConnection::SendOutput(size_t plain) {
  if (engine_->output_size() == 0) return;
  encrypted_.Add(plain, engine_->output_size(), inner_->backlog());
  if (queue_.empty()) engine_->Rest(/*waits=*/inner_->backlog() > 0);
  inner_->Write(engine_->TakeOutput());
  if (phase_ != Phase::kOpen || inner_->backlog() <= inner_high_ + kMaxUnasked) return;
  End(absl::ResourceExhaustedError(
          absl::StrCat(inner_->info().peer_name(),
                       " makes this end of TLS answer again and again, and reads nothing")),
      CloseMode::kAbort);
}

void TlsConnection::CheckDrained() {
  if (phase_ == Phase::kOpen && drain_.OnLeft(backlog(), options_.low_water)) Soon();
}

bool TlsConnection::MayRead() const {
  if (phase_ != Phase::kOpen) return true;
  return handler_ != nullptr && !paused_ && !starving_ && !peer_ended_;
}

// Pauses or resumes reading of the connection below.
void TlsConnection::Govern() {
  if (phase_ > Phase::kFlushing) return;
  const bool before = std::exchange(reads_, MayRead());
  if (reads_ == before) return;
  reads_ ? inner_->ResumeRead() : inner_->PauseRead();
}

void TlsConnection::Starve() {
  starving_ = true;
  if (!starving_since_) starving_since_ = loop_.now();
  const bool holds = !plain_.input().empty() || waits_below_;
  if (holds && loop_.now() - *starving_since_ >= kStarved) {
    return End(absl::ResourceExhaustedError(absl::StrCat(
                   "no memory to decrypt the rest of a message from ", inner_->info().peer_name(),
                   ": the block pool is at its limit (BlockPoolOptions::max_bytes)")),
               CloseMode::kAbort);
  }
  Govern();
  Soon(retry_.NextUncut());
}

void TlsConnection::Soon(Duration delay) { loop_.SetTimerBy(soon_, loop_.now() + delay); }

void TlsConnection::OnSoon() {
  if (phase_ == Phase::kOpen && drain_.Take()) handler_->OnDrained();
  if (phase_ == Phase::kOpen && redeliver_ && !paused_) Deliver();
  // Reading may have been paused, and resumed, in OnRead: then this comes again.
  if (phase_ != Phase::kOpen || paused_ || redeliver_) return;
  if (peer_ended_) return EndByPeer();
  if (!std::exchange(starving_, false)) return;
  // First what OpenSSL holds decrypted, then what waits below.
  Buffer nothing;
  ReadTurn(nothing);
  Govern();
}

}  // namespace farcall
