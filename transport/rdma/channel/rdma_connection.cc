// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/rdma_connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {

RdmaConnection::RdmaConnection(Parts parts)
    : parts_(std::move(parts)),
      loop_(parts_.loop),
      channel_(*parts_.channel),
      soon_([this] { OnSoon(); }),
      close_timer_([this] { Finish(std::move(why_)); }),
      fetch_timer_([this] {
        // Where the loop itself stood still, the answer may be waiting to be polled.
        if (!std::exchange(fetch_late_, true)) {
          return loop_.SetTimer(fetch_timer_, loop_.now() + kFetchGrace);
        }
        Finish(absl::UnavailableError(
            absl::StrCat("RDMA connection to ", parts_.info.peer.ToString(), " on ",
                         parts_.info.device, " lost: an RDMA READ was not answered")));
      }) {
  parts_.info.transport = TransportKind::kRdma;
  parts_.info.why_not_rdma = WhyNotRdma::kInUse;
  channel_.Attach(*this);
  if (channel_.HasUpdate()) loop_.FlushLater(*this);
}

RdmaConnection::~RdmaConnection() {
  Check(loop_.held(), "a connection is destroyed while its loop is held");
  if (state_ != State::kClosed) LetGo();
  channel_.WhenReadsEnd(nullptr);
  channel_.TakeInput().Clear();
}

void RdmaConnection::Start(Handler& handler) {
  Check(loop_.held() && handler_ == nullptr, "a connection is started once, on its loop");
  handler_ = &handler;
  channel_.SetReading(!paused_);
  Soon();
}

void RdmaConnection::Write(Buffer data) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is written to");
  if (state_ != State::kOpen || !channel_.error().ok() || data.empty()) return;
  out_.Append(std::move(data));
  drain_.OnQueued(out_.size(), parts_.options.high_water);
  loop_.FlushLater(*this);
}

bool RdmaConnection::SendNow(absl::string_view head, const Buffer& body) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is written to");
  if (state_ != State::kOpen || !out_.empty() || !channel_.SendNow(head, body)) return false;
  if (!channel_.error().ok()) Soon();
  return true;
}

void RdmaConnection::PauseRead() {
  if (state_ != State::kOpen) return;
  paused_ = true;
  channel_.SetReading(false);
}

void RdmaConnection::ResumeRead() {
  if (!std::exchange(paused_, false) || state_ != State::kOpen) return;
  redeliver_ = left_;
  if (handler_ != nullptr) channel_.SetReading(true);
  Soon();
}

void RdmaConnection::Close(absl::Status why, CloseMode mode) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is closed");
  if (state_ == State::kClosed) return;
  if (mode == CloseMode::kAbort || !channel_.error().ok()) return Finish(std::move(why));
  if (state_ == State::kFlushing) return;
  state_ = State::kFlushing;
  why_ = std::move(why);
  channel_.SetReading(true);
  loop_.SetTimer(close_timer_, loop_.now() + parts_.options.close_timeout);
  loop_.FlushLater(*this);
  Soon();
}

ConnectionInfo RdmaConnection::info() const {
  ConnectionInfo info = parts_.info;
  const PairChannel::Counters& counters = channel_.counters();
  info.bytes_read = counters.bytes_read;
  info.bytes_written = counters.bytes_written;
  info.reads = counters.receives;
  info.writes = counters.doorbells;
  info.copied = counters.copied;
  info.rdma.credits = channel_.credits();
  info.rdma.fetches = channel_.fetches();
  info.rdma.reads = channel_.reads_use();
  info.rdma.messages_in = counters.receives;
  info.rdma.messages_out = counters.messages;
  info.rdma.credit_waits = counters.credit_waits;
  info.rdma.slot_waits = counters.slot_waits;
  info.rdma.memory_waits = counters.memory_waits;
  info.rdma.fetched = counters.fetched;
  return info;
}

void RdmaConnection::OnChannel() {
  if (handler_ != nullptr) {
    if (state_ == State::kOpen) ReadTurn();
    if (state_ == State::kFlushing) EndFlush();
  }
  if (state_ == State::kClosed) return;
  if (channel_.fetching() || fetch_timer_.pending()) WatchFetch();
  const bool end_due = state_ == State::kFlushing && !channel_.fin_sent();
  if (!out_.empty() || end_due || channel_.HasUpdate()) loop_.FlushLater(*this);
}

void RdmaConnection::OnStarved() {
  if (state_ != State::kOpen || paused_ || !left_) return;
  FinishWithoutMemory();
}

void RdmaConnection::FinishWithoutMemory() {
  Finish(absl::ResourceExhaustedError(
      absl::StrCat("no memory to receive the rest of a message from ", parts_.info.peer.ToString(),
                   ": the block pool is at its limit (BlockPoolOptions::max_bytes)")));
}

void RdmaConnection::Soon(Duration delay) { loop_.SetTimerBy(soon_, loop_.now() + delay); }

void RdmaConnection::OnSoon() {
  if (state_ == State::kOpen && drain_.Take()) handler_->OnDrained();
  OnChannel();
}

void RdmaConnection::ReadTurn() {
  if (!paused_ && (redeliver_ || channel_.has_input())) {
    redeliver_ = false;
    // What it returns helps where bytes are read into blocks of one's own choice.
    Buffer& input = channel_.TakeInput();
    left_ = true;  // for a ResumeRead in it
    handler_->OnRead(input);
    left_ = !input.empty();
    redeliver_ = redeliver_ && left_;
  }
  if (state_ == State::kOpen && !paused_) Fetch();
  if (state_ == State::kOpen) EndRead();
}

// Of what the peer has referred to, what may come now.
void RdmaConnection::Fetch() {
  if (channel_.Read()) {
    fetch_retry_.Reset();
    starving_since_.reset();
    return;
  }
  if (!starving_since_) starving_since_ = loop_.now();
  if (loop_.now() - *starving_since_ >= kStarved) return FinishWithoutMemory();
  Soon(fetch_retry_.NextUncut());
}

void RdmaConnection::WatchFetch() {
  if (!channel_.fetching()) return loop_.CancelTimer(fetch_timer_);
  const uint64_t fetches = channel_.counters().reads;
  if (fetch_timer_.pending() && fetches == fetches_) return;
  fetches_ = fetches;
  fetch_late_ = false;
  loop_.SetTimer(fetch_timer_, loop_.now() + kFetchTimeout);
}

// Whether it is over, once what came was delivered.
void RdmaConnection::EndRead() {
  const bool broken = !channel_.error().ok();
  if (!broken && !channel_.ended()) return;
  const bool undelivered = channel_.has_input() || redeliver_;
  if (paused_) {
    // The end waits behind what was not read; but what cannot drain does not wait.
    const bool waits = undelivered || !broken;
    if (waits && !(broken && !out_.empty())) return;
  } else if (redeliver_) {
    return;  // reading was paused and resumed in the last OnRead: soon_ gives what is left
  }
  Finish(channel_.ended()
             ? absl::UnavailableError(absl::StrCat("closed by peer ", parts_.info.peer.ToString()))
             : Lost());
}

void RdmaConnection::Flush() {
  if (state_ == State::kClosed) return;
  if (channel_.Send(out_, /*fin=*/state_ == State::kFlushing)) {
    retry_.Reset();
  } else {
    Soon(retry_.NextUncut());
  }
  if (state_ == State::kOpen && channel_.error().ok() &&
      drain_.OnLeft(out_.size(), parts_.options.low_water)) {
    Soon();
  }
  // From a timer: no callback comes from inside a call. On brpc's wire no message says the
  // end, so where all was sent before, no completion follows that would end the flush.
  const bool over = state_ == State::kFlushing && channel_.flushed();
  if (over || !channel_.error().ok()) Soon();
}

// Our end follows the last byte that was written; the peer's end is waited for, since the
// device may have taken what the peer has not got yet.
void RdmaConnection::EndFlush() {
  channel_.DropUnread();
  channel_.TakeInput().Clear();
  const bool broken = !channel_.error().ok();
  if (broken || channel_.flushed()) {
    Finish(std::move(why_));
  }
}

absl::Status RdmaConnection::Lost() const {
  return absl::UnavailableError(absl::StrCat("RDMA connection to ", parts_.info.peer.ToString(),
                                             " on ", parts_.info.device,
                                             " lost: ", channel_.error().message()));
}

void RdmaConnection::LetGo() {
  loop_.CancelTimer(soon_);
  loop_.CancelTimer(close_timer_);
  loop_.CancelTimer(fetch_timer_);
  loop_.ForgetFlush(*this);
  channel_.Detach();
  parts_.retire();
}

void RdmaConnection::Finish(absl::Status why) {
  state_ = State::kClosed;
  why_ = std::move(why);
  LetGo();
  out_.Clear();
  channel_.WhenReadsEnd([this] {
    on_close_.Post(loop_, [this] {
      // No OnRead looks at the input any more.
      channel_.TakeInput().Clear();
      const absl::Status reason = std::move(why_);
      handler_->OnClose(reason);
    });
  });
}

}  // namespace farcall
