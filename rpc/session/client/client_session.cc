// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/client_session.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/session/client/connect_to_target.h"
#include "rpc/session/client/introduction.h"
#include "rpc/session/rdma_wanted.h"
#include "rpc/wire/reframe.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// What a call fails with when its connection does, or never came.
int ErrorCodeOf(const absl::Status& why) {
  if (CarriesReason(why)) return kRdma;
  // Of a connection only TLS says so.
  return absl::IsUnauthenticated(why) ? kSsl : kFailedSocket;
}

// A request that was encoded when its call began, and has waited since.
Buffer AsOfNow(Buffer&& frame, const Timer& deadline, TimePoint now) {
  if (!deadline.pending()) return std::move(frame);
  return Reframe(std::move(frame),
                 [&](wire::RpcMeta& meta) { SetTimeLeft(meta, deadline.when - now); });
}

}  // namespace

ClientSession::ClientSession(std::shared_ptr<const Environment> environment, EventLoop& loop,
                             Target target, SessionObserver* observer,
                             std::shared_ptr<ConnectGate> gate)
    : counted_(environment->parts.sessions),
      environment_(std::move(environment)),
      loop_(loop),
      target_(std::move(target)),
      observer_(observer),
      output_(loop, *environment_->parts.pool),
      gate_(std::move(gate)),
      deadline_timer_([this] { OnDeadlines(); }),
      limits_{.max_body_size = environment_->options.max_body_size},
      listed_(environment_->parts.registry, *this) {}

ClientSession::~ClientSession() {
  Check(connection_ == nullptr && !connecting_, "a session ends before it dies");
}

ConnectionInfo ClientSession::LastInfo() const {
  if (connection_ != nullptr) return info_.Fresh(*connection_);
  return info_.last() != nullptr ? *info_.last() : ConnectionInfo();
}

void ClientSession::StaysPlain(const absl::Status& why) {
  if (!plain_) return;
  plain_ = ReasonOf(why);
  info_.SetReason(*connection_, why);
}

void ClientSession::Start(SessionCall& call, uint64_t call_id, TimePoint deadline,
                          absl::string_view head, Buffer&& rest) {
  const size_t bytes = head.size() + rest.size();
  if (!MayBegin(deadline, bytes)) [[unlikely]]
    return Refuse(call, deadline, bytes);
  if (connection_ == nullptr && !connecting_ && !ConnectFor(call)) return;
  calls_.Add(call_id, deadline, call);
  if (deadline != TimePoint::max()) ArmDeadline();
  if (connected() && introduced()) [[likely]] {
    written_.Add(bytes);
    return output_.Write(head, std::move(rest));
  }
  WriteOrWait(call_id, head, std::move(rest));
}

// False: the gate forbids it, and the call has failed.
bool ClientSession::ConnectFor(SessionCall& call) {
  const absl::Status may = gate_->MayTry(loop_.now());
  if (may.ok()) {
    Connect();
  } else {
    Fail(call, ErrorCodeOf(may), may.message(), /*may_have_run=*/false);
  }
  return may.ok();
}

// The connection is not there yet, or has not shown a credential.
void ClientSession::WriteOrWait(uint64_t call_id, absl::string_view head, Buffer&& rest) {
  Buffer frame(head);
  frame.Append(std::move(rest));
  connected() ? Write(std::move(frame)) : waiting_.Add(call_id, std::move(frame));
}

void ClientSession::Forget(uint64_t call_id) {
  static_cast<void>(calls_.Take(call_id));
  waiting_.Drop(call_id);
  LetGoIfDone();
}

void ClientSession::Probe() {
  if (connecting_) return;
  if (connection_ == nullptr) return Connect();
  // What closes proves nothing: the next connection does.
  probe_when_closed_ = closing_;
  if (!closing_ && observer_ != nullptr) observer_->OnReachable();
}

void ClientSession::Connect() {
  connecting_ = true;
  self_ = shared_from_this();
  if (!gate_->MustAwait()) return ConnectNow();
  gate_->Await([self = self_](const absl::Status& how) {
    if (!how.ok()) return self->OnConnected(how);
    self->calls_.empty() ? self->OnReachedByAnother() : self->ConnectNow();
  });
}

// And no call needs this connection any more.
void ClientSession::OnReachedByAnother() {
  connecting_ = false;
  if (observer_ != nullptr) observer_->OnReachable();
  LetGoIfDone();
}

void ClientSession::ConnectNow() {
  ConnectToTarget(environment_->parts, loop_, target_, ToConnectOptions(*environment_, target_),
                  [self = self_, attempt = gate_->Begin()](auto connection) {
                    const absl::Status how = connection.status();
                    const bool counts = self->gate_->OnEnd(attempt, self->loop_.now(), how);
                    self->OnConnected(std::move(connection));
                    if (counts) self->gate_->Wake(how);
                  });
}

// How it goes says nothing of whether the server can be reached.
void ClientSession::ConnectInsteadOf(WhyNotRdma plain) {
  connecting_ = true;
  self_ = shared_from_this();
  ConnectOptions options = ToConnectOptions(*environment_, target_);
  options.instead_of = plain;
  ConnectToTarget(environment_->parts, loop_, target_, options,
                  [self = self_](auto connection) { self->OnConnected(std::move(connection)); });
}

void ClientSession::OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection) {
  connecting_ = false;
  WaitingFrames::Frames waiting = waiting_.TakeAll();
  const std::shared_ptr<ClientSession> alive = shared_from_this();
  if (!connection.ok()) {
    const absl::Status& why = connection.status();
    if (observer_ != nullptr) observer_->OnUnreachable(why);
    FailAll(ErrorCodeOf(why), why.message(), /*may_have_run=*/false);
    return LetGoIfDone();
  }
  introduced_ = false;
  connection_ = *std::move(connection);
  output_.SetConnection(*connection_);
  max_request_body_ = UINT32_MAX;
  written_ = BacklogBound();
  begun_.reset();
  oversized_ = OversizedFrame();
  placed_range_.Clear();
  connection_->Start(*this);
  const ConnectionInfo& info = *info_.Of(*connection_);
  plain_.reset();
  if (!info.linked && info.why_not_rdma != WhyNotRdma::kInUse &&
      RdmaWanted(environment_->options) == UseRdma::kPrefer) {
    plain_ = info.why_not_rdma;
  }
  for (auto& [call_id, frame] : waiting) {
    // One that finds no credential ends them all.
    PendingCall* const call = calls_.Find(call_id);
    if (call != nullptr) Write(AsOfNow(std::move(frame), call->deadline(), loop_.now()));
  }
  if (observer_ != nullptr) observer_->OnReachable();
  LetGoIfDone();
}

void ClientSession::Write(Buffer&& frame) {
  if (introduced()) {
    written_.Add(frame.size());
    return output_.Write(std::move(frame));
  }
  const absl::StatusOr<std::string> credential = CredentialOf(*environment_->options.auth);
  if (!credential.ok()) {
    FailAll(kAuthFailed, absl::StrCat("no credential: ", credential.status().message()),
            /*may_have_run=*/false);
    return;
  }
  introduced_ = true;
  Buffer first = Reframe(std::move(frame),
                         [&](wire::RpcMeta& meta) { meta.set_authentication_data(*credential); });
  written_.Add(first.size());
  output_.Write(std::move(first));
}

void ClientSession::Retire() {
  retired_ = true;
  observer_ = nullptr;
  LetGoIfDone();
}

// The calls that wait for answers on a connection that broke.
void ClientSession::FailSent(const absl::Status& why) {
  if (calls_.empty()) return;
  if (observer_ != nullptr) observer_->OnUnreachable(why);
  // What says of whom it speaks says it as the user does, or by the number of a name.
  const std::string text = absl::StrContains(why.message(), target_.text)
                               ? std::string(why.message())
                               : absl::StrCat(target_.text, ": ", why.message());
  if (SessionCall* const call = Begun(); call != nullptr) {
    static_cast<void>(calls_.Take(*begun_));
    call->OnBrokenAnswer(ErrorCodeOf(why), text, info_.last());
  }
  FailAll(ErrorCodeOf(why), text, /*may_have_run=*/true);
}

void ClientSession::OnClose(const absl::Status& why) {
  const std::shared_ptr<ClientSession> alive = shared_from_this();
  output_.Forget();
  connection_ = nullptr;
  plain_.reset();
  if (!std::exchange(closing_, false)) FailSent(why);
  if (connection_ == nullptr) info_.Forget();
  const bool probe = std::exchange(probe_when_closed_, false) && !retired_;
  if (connection_ == nullptr && !connecting_) ConnectAgain(probe);
  LetGoIfDone();
}

// For the calls that were started while the last connection closed.
void ClientSession::ConnectAgain(bool probe) {
  if (!probe && calls_.empty()) return;
  const absl::Status may = probe ? absl::OkStatus() : gate_->MayTry(loop_.now());
  if (may.ok()) return Connect();
  static_cast<void>(waiting_.TakeAll());
  FailAll(ErrorCodeOf(may), may.message(), /*may_have_run=*/false);
}

void ClientSession::Fail(SessionCall& call, int code, absl::string_view text, bool may_have_run) {
  call.OnFailure(code, text, may_have_run,
                 connection_ != nullptr ? info_.Of(*connection_) : info_.last());
}

void ClientSession::FailAll(int code, absl::string_view text, bool may_have_run) {
  calls_.TakeAll(
      [&](PendingCall& call) { Fail(static_cast<SessionCall&>(call), code, text, may_have_run); });
}

void ClientSession::OnDeadlines() {
  const std::shared_ptr<ClientSession> alive = shared_from_this();
  const bool sent = connected();
  const std::string text = absl::StrCat(
      "deadline exceeded: ", sent ? "no answer came from " : "there was no connection yet to ",
      target_.text);
  calls_.Expire(loop_.now(), [&](PendingCall& call) {
    waiting_.Drop(call.id());
    Fail(static_cast<SessionCall&>(call), kRpcTimedOut, text, sent);
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

// After a change. Nothing of the session may be touched afterwards, unless somebody holds it.
void ClientSession::LetGoIfDone() {
  if (!retired_ || !calls_.empty() || connecting_) return;
  if (connection_ != nullptr) {
    return connection_->Close(absl::CancelledError("the channel was destroyed"), CloseMode::kAbort);
  }
  loop_.CancelTimer(deadline_timer_);
  self_.reset();
}

}  // namespace farcall
