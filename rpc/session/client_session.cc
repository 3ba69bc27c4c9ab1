// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client_session.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/session/dial.h"
#include "rpc/session/rdma_wanted.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

ConnectOptions ToConnectOptions(const ChannelOptions& options) {
  ConnectOptions connect;
  connect.timeout = std::chrono::milliseconds(options.connect_timeout_ms);
  connect.connection.traffic_class = options.traffic_class;
  connect.rdma = RdmaWanted(options);
  return connect;
}

// What a call fails with when its connection does, or never came.
int ErrorCodeOf(const absl::Status& why) { return CarriesReason(why) ? kRdma : kFailedSocket; }

}  // namespace

ClientSession::ClientSession(const RuntimeParts& parts, EventLoop& loop, Target target,
                             const ChannelOptions& options)
    : counted_(parts.sessions),
      parts_(parts),
      loop_(loop),
      target_(std::move(target)),
      options_(options),
      deadline_timer_([this] { OnDeadlines(); }),
      writer_(*parts.pool) {}

ClientSession::~ClientSession() {
  Check(connection_ == nullptr && !connecting_, "a session ends before it dies");
}

void ClientSession::Cancel(uint64_t call_id) {
  loop_.RunOrPost([self = shared_from_this(), call_id] {
    PendingCall* const call = self->calls_.Take(call_id);
    if (call != nullptr) self->End(*call, ECANCELED, "cancelled by the caller");
    self->LetGoIfDone();
  });
}

void ClientSession::Start(ClientCall& call, uint64_t call_id, TimePoint deadline,
                          absl::string_view head, Buffer body) {
  if (Refuse(call, deadline, head.size() + body.size())) return call.Complete(loop_);
  Buffer frame;
  if (!head.empty() && !writer_.Append(head, frame)) {
    call.Fail(kOvercrowded, "the block pool is at its limit (RuntimeOptions::pool.max_bytes)");
    return call.Complete(loop_);
  }
  frame.Append(std::move(body));
  if (connection_ == nullptr && !connecting_ && !Connect(call)) return call.Complete(loop_);
  calls_.Add(call_id, deadline, call);
  ArmDeadline();
  if (connection_ != nullptr) {
    connection_->Write(std::move(frame));
  } else {
    waiting_bytes_ += frame.size();
    waiting_.push_back({call_id, std::move(frame)});
  }
}

// Whether the call may not begin; it has then failed.
bool ClientSession::Refuse(ClientCall& call, TimePoint deadline, size_t bytes) {
  const size_t backlog = connection_ != nullptr ? connection_->backlog() : waiting_bytes_;
  if (call.canceled()) {
    call.Fail(ECANCELED, "cancelled by the caller before it was sent");
  } else if (deadline <= loop_.now()) {
    call.Fail(kRpcTimedOut, absl::StrCat("no time was left to send the request to ", target_.text));
  } else if (backlog > 0 && backlog + bytes > options_.max_backlog) {
    call.Fail(kOvercrowded, absl::StrCat(backlog, " bytes wait to be sent to ", target_.text,
                                         " already (max_backlog ", options_.max_backlog, ")"));
  } else if (calls_.size() >= static_cast<size_t>(options_.max_pending_calls)) {
    call.Fail(kOvercrowded, absl::StrCat(calls_.size(), " calls wait for answers from ",
                                         target_.text, " already (max_pending_calls)"));
  } else {
    return false;
  }
  return true;
}

// Begins to connect. False: not now, and the call has failed.
bool ClientSession::Connect(ClientCall& call) {
  const absl::Status may = reconnect_.MayTry(loop_.now());
  if (!may.ok()) {
    call.Fail(ErrorCodeOf(may), may.message());
    return false;
  }
  connecting_ = true;
  self_ = shared_from_this();
  Dial(parts_, loop_, target_, ToConnectOptions(options_),
       [self = self_](auto connection) { self->OnConnected(std::move(connection)); });
  return true;
}

void ClientSession::OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection) {
  connecting_ = false;
  std::vector<Waiting> waiting = std::move(waiting_);
  waiting_.clear();
  waiting_bytes_ = 0;
  if (!connection.ok()) {
    reconnect_.OnFailure(loop_.now(), connection.status());
    EndAll(ErrorCodeOf(connection.status()), connection.status().message());
    return LetGoIfDone();
  }
  reconnect_.OnSuccess();
  Open(*std::move(connection));
  for (Waiting& one : waiting) {
    // What has timed out or was cancelled meanwhile is not sent.
    if (calls_.Has(one.call_id)) connection_->Write(std::move(one.frame));
  }
  LetGoIfDone();
}

void ClientSession::Open(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  connection_->Start(*this);
  static_cast<void>(info_.Of(*connection_));
}

void ClientSession::Retire() {
  retired_ = true;
  LetGoIfDone();
}

size_t ClientSession::OnRead(Buffer& input) {
  const FrameLimits limits{.max_body_size = options_.max_body_size};
  for (;;) {
    const absl::StatusOr<size_t> need = CutFrame(input, limits, frame_);
    if (!need.ok()) {
      connection_->Close(
          absl::Status(need.status().code(), absl::StrCat("bad answer from ", target_.text, ": ",
                                                          need.status().message())),
          CloseMode::kAbort);
      return 0;
    }
    if (*need != 0) {
      LetGoIfDone();
      return *need;
    }
    PendingCall* const call = calls_.Take(static_cast<uint64_t>(frame_.meta.correlation_id()));
    if (call == nullptr) continue;  // late, or never asked for
    ClientCall& answered = static_cast<ClientCall&>(*call);
    answered.set_connection(info_.Of(*connection_));
    answered.Answer(frame_);
    answered.Complete(loop_);
  }
}

void ClientSession::OnClose(const absl::Status& why) {
  connection_ = nullptr;
  EndAll(ErrorCodeOf(why), absl::StrCat("connection to ", target_.text, ": ", why.message()));
  info_.Forget();
  LetGoIfDone();
}

void ClientSession::End(PendingCall& call, int code, absl::string_view text) {
  ClientCall& ended = static_cast<ClientCall&>(call);
  ended.set_connection(connection_ != nullptr ? info_.Of(*connection_) : info_.last());
  ended.Fail(code, text);
  ended.Complete(loop_);
}

void ClientSession::EndAll(int code, absl::string_view text) {
  calls_.TakeAll([&](PendingCall& call) { End(call, code, text); });
}

void ClientSession::OnDeadlines() {
  const absl::string_view where =
      connection_ != nullptr ? "no answer came from " : "there was no connection yet to ";
  calls_.Expire(loop_.now(), [&](PendingCall& call) {
    End(call, kRpcTimedOut, absl::StrCat("deadline exceeded: ", where, target_.text));
  });
  ArmDeadline();
  LetGoIfDone();
}

// The timer may fire early: moving it for each call that ends would cost more.
void ClientSession::ArmDeadline() {
  const std::optional<TimePoint> next = calls_.next_deadline();
  if (!next || (deadline_timer_.pending() && deadline_timer_.when <= *next)) return;
  loop_.SetTimer(deadline_timer_, *next);
}

// After a change. Nothing of the session may be touched afterwards.
void ClientSession::LetGoIfDone() {
  if (!retired_ || !calls_.empty() || connecting_) return;
  if (connection_ != nullptr) {
    return connection_->Close(absl::CancelledError("the channel was destroyed"), CloseMode::kAbort);
  }
  loop_.CancelTimer(deadline_timer_);
  self_.reset();
}

}  // namespace farcall
