// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/tcp_connection.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"

namespace farcall {

TcpConnection::TcpConnection(std::unique_ptr<WatchedSocket> socket, BlockPool& pool,
                             const ConnectionOptions& options, Address local, Address peer)
    : loop_(socket->loop()),
      pool_(pool),
      options_(options),
      socket_(std::move(socket)),
      reader_(pool),
      soon_([this] { OnSoon(); }),
      close_timer_([this] { Finish(std::move(why_)); }) {
  info_.local = std::move(local);
  info_.peer = std::move(peer);
}

TcpConnection::~TcpConnection() {
  Check(loop_.held(), "a connection is destroyed while its loop is held");
  loop_.CancelTimer(soon_);
  loop_.CancelTimer(close_timer_);
  loop_.ForgetFlush(*this);
}

void TcpConnection::Start(Handler& handler) {
  Check(loop_.held() && handler_ == nullptr, "a connection is started once, on its loop");
  handler_ = &handler;
  socket_->SetHandler(this);
  Soon();
}

void TcpConnection::Write(Buffer data) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is written to");
  if (state_ != State::kOpen || !lost_.ok() || data.empty()) return;
  writer_.Append(std::move(data));
  drain_.OnQueued(writer_.backlog(), options_.high_water);
  if (writable_) loop_.FlushLater(*this);
}

// SIOCOUTQ, tcp(7): of unix sockets, what the peer has not read.
size_t TcpConnection::unacknowledged() const {
  int bytes = 0;
  if (state_ == State::kClosed || ioctl(socket_->fd(), SIOCOUTQ, &bytes) != 0) return 0;
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

void TcpConnection::ResumeRead() {
  if (!std::exchange(paused_, false) || state_ != State::kOpen) return;
  redeliver_ = !reader_.input().empty();
  // While reading paused nothing was missed.
  starving_since_.reset();
  if (redeliver_ || readable_) Soon();
}

void TcpConnection::Close(absl::Status why, CloseMode mode) {
  Check(loop_.held() && handler_ != nullptr, "a connection is started before it is closed");
  if (state_ == State::kClosed) return;
  if (mode == CloseMode::kAbort || !lost_.ok()) return Finish(std::move(why));
  if (state_ == State::kFlushing) return;
  state_ = State::kFlushing;
  why_ = std::move(why);
  loop_.SetTimer(close_timer_, loop_.now() + options_.close_timeout);
  loop_.FlushLater(*this);
  Soon();
}

void TcpConnection::OnReady(uint32_t events) {
  constexpr uint32_t kBroken = EPOLLHUP | EPOLLERR;
  CountBulk();
  if ((events & (EPOLLRDHUP | kBroken)) != 0) hung_up_ = true;
  if ((events & (EPOLLOUT | kBroken)) != 0) {
    writable_ = true;
    if (writer_.backlog() > 0) loop_.FlushLater(*this);
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | kBroken)) == 0) return;
  readable_ = true;
  if (state_ == State::kOpen) ReadSome();
  if (state_ == State::kFlushing) DiscardTurn();
}

void TcpConnection::Soon(Duration delay) { loop_.SetTimerBy(soon_, loop_.now() + delay); }

void TcpConnection::OnSoon() {
  if (state_ == State::kOpen && drain_.Take()) handler_->OnDrained();
  if (state_ == State::kOpen) ReadSome();
  if (state_ == State::kFlushing) DiscardTurn();
  if (writer_.backlog() > 0 && writable_) loop_.FlushLater(*this);
}

void TcpConnection::CountBulk() {
  if (std::max(reader_.missing(), writer_.backlog()) > kPerTurnBesideOthers) {
    if (bulk_events_ == 0) socket_->SetBulk(true);
    bulk_events_ = kBulkEvents;
  } else if (bulk_events_ > 0 && --bulk_events_ == 0) {
    socket_->SetBulk(false);
  }
}

// Whether so many bytes are bulk that others should not wait for.
bool TcpConnection::BesideOthers(size_t bytes) const {
  return bytes > kPerTurnBesideOthers && loop_.fds().crowded();
}

size_t TcpConnection::PerTurn() const {
  return loop_.fds().crowded() ? kPerTurnBesideOthers : kPerTurn;
}

// Now, or at the end of the turn.
void TcpConnection::ReadSome() {
  const bool recent = loop_.now() - read_at_ < kLongUnread;
  if (!readable_ || paused_ || !recent || !BesideOthers(reader_.missing())) return ReadTurn();
  read_later_ = true;
  loop_.FlushLater(*this);
}

void TcpConnection::ReadTurn() {
  read_at_ = loop_.now();
  // The peer's end may be seen before soon_ comes.
  if (state_ == State::kOpen && redeliver_ && !paused_) Deliver();
  size_t left = PerTurn();
  while (state_ == State::kOpen && readable_ && !paused_) {
    if (left == 0) return Soon();
    const size_t missing = std::min(reader_.missing(), left);
    const SocketResult result =
        reader_.Read(socket_->fd(), left, missing > 0 ? handler_->PlaceFor(0, missing) : Buffer());
    ++info_.reads;
    info_.bytes_read += result.bytes;
    left -= result.bytes;
    if (!Took(result)) return;
    if (result.bytes > 0) Deliver();
  }
  // A write failed, and what the peer had sent before is delivered or unwanted.
  if (state_ == State::kOpen && !lost_.ok()) Finish(lost_);
}

// False: nothing to deliver, and no more to read now.
bool TcpConnection::Took(const SocketResult& result) {
  switch (result.progress) {
    case SocketProgress::kMore:
      break;
    case SocketProgress::kBlocked:
      if (result.bytes == 0) hung_up_ = false;
      if (!hung_up_) readable_ = false;
      break;
    case SocketProgress::kNoMemory:
      if (!Starved()) {
        Soon(retry_.NextUncut());
      } else {
        Finish(absl::ResourceExhaustedError(
            absl::StrCat("no memory to read the rest of a message from ", info_.peer_name(),
                         ": the block pool is at its limit (BlockPoolOptions::max_bytes)")));
      }
      return false;
    case SocketProgress::kEnd:
      // Reading was paused and resumed in the last OnRead: soon_ gives what is left, and ends.
      if (redeliver_) return false;
      Finish(lost_.ok() ? absl::UnavailableError(absl::StrCat("closed by peer ", info_.peer_name()))
                        : lost_);
      return false;
    case SocketProgress::kFailed:
      Finish(lost_.ok() ? Lost(result.error) : lost_);
      return false;
  }
  retry_.Reset();
  starving_since_.reset();
  return true;
}

void TcpConnection::Deliver() {
  redeliver_ = false;  // unless the handler pauses and resumes in it
  reader_.Expect(handler_->OnRead(reader_.input()));
  if (reader_.input().empty()) redeliver_ = false;
  // Who is alone takes the same block again.
  if (loop_.fds().crowded()) reader_.Rest();
}

void TcpConnection::DiscardTurn() {
  size_t left = PerTurn();
  while (readable_ && !peer_ended_) {
    if (left == 0) return Soon();
    const SocketResult result = SocketReader::Discard(socket_->fd(), left);
    ++info_.reads;
    left -= result.bytes;
    if (result.progress == SocketProgress::kFailed) return Finish(std::move(why_));
    if (result.progress == SocketProgress::kEnd) peer_ended_ = true;
    if (result.progress == SocketProgress::kBlocked) {
      if (result.bytes == 0) hung_up_ = false;
      if (!hung_up_) readable_ = false;
    }
  }
  EndFlush();
}

void TcpConnection::Flush() {
  bool read = read_later_;
  bool write = writable_ && writer_.backlog() > 0;
  const bool bulk = read || BesideOthers(writer_.backlog());
  if (bulk && !std::exchange(behind_, true)) return loop_.FlushLater(*this);
  behind_ = false;
  read_later_ = false;
  if (read && write) {
    writes_next_ = !writes_next_;
    if (writes_next_) {
      write = false;
    } else {
      read = false;
    }
    Soon();
  }
  if (read && state_ == State::kOpen) ReadTurn();
  if (write) WriteTurn();
  if (state_ == State::kFlushing) EndFlush();
  if (state_ != State::kOpen || !lost_.ok()) return;
  if (drain_.OnLeft(writer_.backlog(), options_.low_water)) Soon();
}

void TcpConnection::WriteTurn() {
  size_t left = PerTurn();
  while (writable_ && writer_.backlog() > 0) {
    if (left == 0) return Soon();
    const SocketResult result = writer_.Write(socket_->fd(), left);
    ++info_.writes;
    info_.bytes_written += result.bytes;
    left -= result.bytes;
    if (result.progress == SocketProgress::kBlocked) writable_ = false;
    if (result.progress == SocketProgress::kNoMemory) return Soon(retry_.NextUncut());
    if (result.progress == SocketProgress::kFailed) return OnWriteFailed(result.error);
  }
}

// Our end follows the last byte that was written; the peer's end is waited for, since
// closing before it has read everything could take that away from it (a reset).
void TcpConnection::EndFlush() {
  if (writer_.backlog() > 0) return;
  // What it can fail with, ENOTCONN, the next read tells.
  if (!std::exchange(shut_, true)) ::shutdown(socket_->fd(), SHUT_WR);
  if (peer_ended_) Finish(std::move(why_));
}

void TcpConnection::OnWriteFailed(int error) {
  if (state_ == State::kFlushing) return Finish(std::move(why_));
  lost_ = Lost(error);
  writer_.Clear();
  readable_ = true;
  hung_up_ = true;
  Soon();
}

bool TcpConnection::Starved() {
  if (!starving_since_) starving_since_ = loop_.now();
  return !reader_.input().empty() && loop_.now() - *starving_since_ >= kStarved;
}

absl::Status TcpConnection::Lost(int error) const {
  if (error == EPIPE) {
    return absl::UnavailableError(absl::StrCat("closed by peer ", info_.peer_name()));
  }
  return absl::UnavailableError(
      absl::StrCat("connection to ", info_.peer_name(), " lost: ", ErrnoStatus(error).message()));
}

void TcpConnection::Finish(absl::Status why) {
  state_ = State::kClosed;
  why_ = std::move(why);
  socket_->Close();
  loop_.CancelTimer(soon_);
  loop_.CancelTimer(close_timer_);
  loop_.ForgetFlush(*this);
  writer_.Clear();
  on_close_.Post(loop_, [this] {
    // No OnRead looks at the input any more.
    reader_.Clear();
    const absl::Status reason = std::move(why_);
    handler_->OnClose(reason);
  });
}

}  // namespace farcall
