// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_connection.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/testing/fill_place.h"

namespace farcall {
namespace {

constexpr Duration kPoolRetry = std::chrono::milliseconds(1);

}  // namespace

SimConnection::SimConnection(Parts parts, BlockPool& pool)
    : parts_(std::move(parts)),
      loop_(parts_.mine->loop()),
      pool_(pool),
      timer_([this] { OnTime(); }),
      close_timer_([this] { Finish(std::move(why_)); }) {
  Check(loop_.held(), "a connection is made while its loop is held");
  info_.transport = TransportKind::kSimulated;
  info_.local = parts_.local;
  info_.peer = parts_.peer;
  writer_.emplace(pool_);
  parts_.mine->SetReceiver(this);
}

SimConnection::~SimConnection() {
  Check(loop_.held(), "a connection is destroyed while its loop is held");
  Leave();
  loop_.CancelTimer(timer_);
  loop_.CancelTimer(close_timer_);
  loop_.ForgetFlush(*this);
}

void SimConnection::Start(Handler& handler) {
  Check(loop_.held() && handler_ == nullptr, "a connection is started once, on its loop");
  handler_ = &handler;
  ArmTimer();
}

void SimConnection::Write(Buffer data) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is written to");
  if (state_ != State::kOpen || data.empty()) return;
  queue_.Append(std::move(data));
  drain_.OnQueued(queue_.size(), parts_.options.high_water);
  loop_.FlushLater(*this);
}

void SimConnection::ResumeRead() {
  if (!std::exchange(paused_, false) || state_ != State::kOpen) return;
  redeliver_ = !input_.empty();
  ArmTimer();
}

void SimConnection::Close(absl::Status why, CloseMode mode) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is closed");
  if (state_ == State::kClosed) return;
  if (mode == CloseMode::kAbort) return Finish(std::move(why));
  if (state_ == State::kFlushing) return;
  state_ = State::kFlushing;
  why_ = std::move(why);
  loop_.SetTimer(close_timer_, loop_.now() + parts_.options.close_timeout);
  loop_.FlushLater(*this);
  ArmTimer();
}

void SimConnection::Receive(SimPacket packet) {
  const auto spread =
      static_cast<uint64_t>((parts_.network.max_delay - parts_.network.min_delay).count());
  const Duration delay = parts_.network.min_delay + Duration(parts_.random.Below(spread + 1));
  reset_ |= packet.kind == SimPacket::Kind::kReset;
  SimInbox& inbox = packet.kind == SimPacket::Kind::kAck ? acks_ : inbox_;
  line_free_ = std::max(line_free_, loop_.now());
  if (parts_.network.rate > 0) {
    line_free_ +=
        std::chrono::nanoseconds(packet.bytes.size() * 1'000'000'000 / parts_.network.rate);
  }
  inbox.Put(std::move(packet), line_free_ + delay);
  ArmTimer();
}

void SimConnection::OnTime() {
  for (; acks_.arrived(loop_.now()); acks_.Pop()) {
    in_flight_ -= acks_.front().acked;
    if (!queue_.empty() || state_ == State::kFlushing) loop_.FlushLater(*this);
  }
  if (state_ == State::kOpen && drain_.Take()) handler_->OnDrained();
  if (state_ == State::kOpen && redeliver_ && !paused_) Deliver();
  retry_.reset();
  while (state_ != State::kClosed && !(state_ == State::kOpen && paused_) &&
         inbox_.arrived(loop_.now())) {
    if (!TakeIn(inbox_.front())) break;
    const SimPacket packet = std::move(inbox_.front());
    inbox_.Pop();
    Handle(packet);
  }
  // What a paused handler wrote cannot leave any more, so nothing would resume it.
  if (state_ == State::kOpen && paused_ && reset_) Finish(Lost("reset"));
  ArmTimer();
}

void SimConnection::ArmTimer() {
  if (state_ == State::kClosed || handler_ == nullptr) return;
  std::optional<TimePoint> when;
  const auto at = [&](TimePoint time) { when = when ? std::min(*when, time) : time; };
  // Once it is closing there is no callback for these, and "now" would come again and again.
  if (state_ == State::kOpen && (drain_.due() || (redeliver_ && !paused_) || (paused_ && reset_))) {
    at(loop_.now());
  }
  if (!acks_.empty()) at(acks_.next());
  if (!inbox_.empty() && !(state_ == State::kOpen && paused_)) {
    at(retry_ ? *retry_ : inbox_.next());
  }
  if (when) {
    loop_.SetTimer(timer_, *when);
  } else {
    loop_.CancelTimer(timer_);
  }
}

// False: the pool has no block, and the packet waits.
bool SimConnection::TakeIn(const SimPacket& packet) {
  if (packet.kind != SimPacket::Kind::kData || state_ != State::kOpen) return true;
  // Written to once the rest has found a block: what waits is asked for again.
  Buffer landed = packet.bytes.empty() ? Buffer() : handler_->PlaceFor(0, packet.bytes.size());
  Buffer rest;
  if (!writer_->Append(absl::string_view(packet.bytes).substr(landed.size()), rest)) {
    retry_ = loop_.now() + kPoolRetry;
    return false;
  }
  FillPlace(landed, packet.bytes);
  input_.Append(std::move(landed));
  input_.Append(std::move(rest));
  return true;
}

void SimConnection::Handle(const SimPacket& packet) {
  const bool open = state_ == State::kOpen;
  switch (packet.kind) {
    case SimPacket::Kind::kData:
      Send(SimPacket::Kind::kAck, std::string(), packet.bytes.size());
      if (!open) return;
      ++info_.reads;
      info_.bytes_read += packet.bytes.size();
      return Deliver();
    case SimPacket::Kind::kEnd:
      if (open) {
        const std::string peer = parts_.peer.ToString();
        return Finish(absl::UnavailableError(absl::StrCat("closed by peer ", peer)));
      }
      peer_ended_ = true;
      return EndFlush();
    case SimPacket::Kind::kReset:
      return Finish(open ? Lost("reset") : std::move(why_));
    case SimPacket::Kind::kAck:
      Check(false, "acknowledgements have an inbox of their own");
  }
}

void SimConnection::Deliver() {
  handler_->OnRead(input_);
  redeliver_ = false;
}

void SimConnection::Flush() {
  while (state_ != State::kClosed && !queue_.empty() && in_flight_ < parts_.network.window) {
    SendPacket();
  }
  if (state_ == State::kFlushing) EndFlush();
  if (state_ == State::kOpen && drain_.OnLeft(queue_.size(), parts_.options.low_water)) ArmTimer();
}

void SimConnection::SendPacket() {
  const size_t bytes =
      std::min({queue_.size(), parts_.network.window - in_flight_,
                static_cast<size_t>(1 + parts_.random.Below(parts_.network.max_packet))});
  in_flight_ += bytes;
  ++info_.writes;
  info_.bytes_written += bytes;
  Send(SimPacket::Kind::kData, queue_.CutFront(bytes).ToString());
  if (parts_.random.Chance(parts_.network.mute)) parts_.mine->Cut();
  if (parts_.random.Chance(parts_.network.reset)) {
    Send(SimPacket::Kind::kReset);
    ended_ = true;
    Finish(state_ == State::kOpen ? Lost("reset by the network") : std::move(why_));
  }
}

void SimConnection::EndFlush() {
  const bool tells = parts_.network.tells_ends;
  if (!queue_.empty() || (!tells && in_flight_ > 0)) return;
  if (!std::exchange(ended_, true)) Send(SimPacket::Kind::kEnd);
  if (peer_ended_ || !tells) Finish(std::move(why_));
}

void SimConnection::Leave() {
  parts_.mine->SetReceiver(nullptr);
  if (std::exchange(ended_, true)) return;
  Send(inbox_.HasData() ? SimPacket::Kind::kReset : SimPacket::Kind::kEnd);
}

void SimConnection::Send(SimPacket::Kind kind, std::string bytes, size_t acked) {
  const bool end = kind == SimPacket::Kind::kEnd || kind == SimPacket::Kind::kReset;
  if (end && !parts_.network.tells_ends) return;
  SimPort::Send({kind, std::move(bytes), acked}, parts_.mine, parts_.other);
}

absl::Status SimConnection::Lost(absl::string_view how) const {
  return absl::UnavailableError(
      absl::StrCat("connection to ", parts_.peer.ToString(), " lost: ", how));
}

void SimConnection::Finish(absl::Status why) {
  state_ = State::kClosed;
  why_ = std::move(why);
  Leave();
  loop_.CancelTimer(timer_);
  loop_.CancelTimer(close_timer_);
  loop_.ForgetFlush(*this);
  queue_ = Buffer();
  inbox_.Clear();
  acks_.Clear();
  on_close_.Post(loop_, [this] {
    // No OnRead looks at the input any more.
    input_ = Buffer();
    writer_.reset();
    const absl::Status reason = std::move(why_);
    handler_->OnClose(reason);
  });
}

}  // namespace farcall
