// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/authenticator.h"
#include "rpc/errors.h"
#include "rpc/session/dial.h"
#include "rpc/session/rdma_wanted.h"
#include "rpc/wire/reframe.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

ConnectOptions ToConnectOptions(const ClientSession::Environment& environment,
                                const Target& target) {
  const ChannelOptions& options = environment.options;
  ConnectOptions connect;
  connect.timeout = std::chrono::milliseconds(options.connect_timeout_ms);
  connect.connection.traffic_class = options.traffic_class;
  connect.rdma = RdmaWanted(options);
  connect.tls = environment.tls;
  connect.tls_name = target.host;
  connect.tls_forbids_rdma = TlsForbidsRdma(options);
  return connect;
}

// What a call fails with when its connection does, or never came.
int ErrorCodeOf(const absl::Status& why) { return CarriesReason(why) ? kRdma : kFailedSocket; }

// An answer to nobody, with which a server closes a connection (docs/wire.md).
bool IsFarewell(const wire::RpcMeta& meta) {
  return meta.correlation_id() == 0 && meta.response().error_code() == kLogoff;
}

}  // namespace

ClientSession::ClientSession(std::shared_ptr<const Environment> environment, EventLoop& loop,
                             Target target, SessionObserver* observer)
    : counted_(environment->parts.sessions),
      environment_(std::move(environment)),
      loop_(loop),
      target_(std::move(target)),
      observer_(observer),
      deadline_timer_([this] { OnDeadlines(); }) {}

ClientSession::~ClientSession() {
  Check(connection_ == nullptr && !connecting_, "a session ends before it dies");
}

void ClientSession::Start(SessionCall& call, uint64_t call_id, TimePoint deadline, Buffer frame) {
  if (Refuse(call, deadline, frame.size())) return;
  if (connection_ == nullptr && !connecting_) {
    const absl::Status may = reconnect_.MayTry(loop_.now());
    if (!may.ok()) return Fail(call, ErrorCodeOf(may), may.message(), /*may_have_run=*/false);
    Connect();
  }
  calls_.Add(call_id, deadline, call);
  ArmDeadline();
  if (connection_ != nullptr) return Write(std::move(frame));
  waiting_bytes_ += frame.size();
  waiting_.push_back({call_id, std::move(frame)});
}

// Whether the call may not begin; it has then failed.
bool ClientSession::Refuse(SessionCall& call, TimePoint deadline, size_t bytes) {
  const ChannelOptions& options = environment_->options;
  const size_t backlog = connection_ != nullptr ? connection_->backlog() : waiting_bytes_;
  int code = kOvercrowded;
  std::string text;
  if (deadline <= loop_.now()) {
    code = kRpcTimedOut;
    text = absl::StrCat("no time was left to send the request to ", target_.text);
  } else if (backlog > 0 && backlog + bytes > options.max_backlog) {
    text = absl::StrCat(backlog, " bytes wait to be sent to ", target_.text,
                        " already (max_backlog ", options.max_backlog, ")");
  } else if (calls_.size() >= static_cast<size_t>(options.max_pending_calls)) {
    text = absl::StrCat(calls_.size(), " calls wait for answers from ", target_.text,
                        " already (max_pending_calls)");
  } else {
    return false;
  }
  Fail(call, code, text, /*may_have_run=*/false);
  return true;
}

void ClientSession::Forget(uint64_t call_id) {
  static_cast<void>(calls_.Take(call_id));
  LetGoIfDone();
}

void ClientSession::Probe() {
  if (connecting_) return;
  if (connection_ == nullptr) return Connect();
  // What closes proves nothing: the next connection does.
  probe_when_closed_ = farewell_;
  if (!farewell_ && observer_ != nullptr) observer_->OnReachable();
}

void ClientSession::Connect() {
  connecting_ = true;
  self_ = shared_from_this();
  Dial(environment_->parts, loop_, target_, ToConnectOptions(*environment_, target_),
       [self = self_](auto connection) { self->OnConnected(std::move(connection)); });
}

void ClientSession::OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection) {
  connecting_ = false;
  std::vector<Waiting> waiting = std::move(waiting_);
  waiting_.clear();
  waiting_bytes_ = 0;
  const std::shared_ptr<ClientSession> alive = shared_from_this();
  if (!connection.ok()) {
    const absl::Status& why = connection.status();
    reconnect_.OnFailure(loop_.now(), why);
    if (observer_ != nullptr) observer_->OnUnreachable(why);
    FailAll(ErrorCodeOf(why), why.message(), /*may_have_run=*/false);
    return LetGoIfDone();
  }
  reconnect_.OnSuccess();
  introduced_ = false;
  connection_ = *std::move(connection);
  farewell_ = false;
  connection_->Start(*this);
  static_cast<void>(info_.Of(*connection_));
  for (Waiting& one : waiting) {
    // What has timed out or was cancelled meanwhile is not sent.
    if (calls_.Has(one.call_id)) Write(std::move(one.frame));
  }
  if (observer_ != nullptr) observer_->OnReachable();
  LetGoIfDone();
}

void ClientSession::Write(Buffer frame) {
  const Authenticator* const auth = environment_->options.auth.get();
  if (auth == nullptr || introduced_) [[likely]] {
    return connection_->Write(std::move(frame));
  }
  const absl::StatusOr<std::string> credential = auth->GenerateCredential();
  if (!credential.ok()) {
    FailAll(kAuthFailed, absl::StrCat("no credential: ", credential.status().message()),
            /*may_have_run=*/false);
    return;
  }
  introduced_ = true;
  connection_->Write(Reframe(
      std::move(frame), [&](wire::RpcMeta& meta) { meta.set_authentication_data(*credential); }));
}

void ClientSession::Retire() {
  retired_ = true;
  observer_ = nullptr;
  LetGoIfDone();
}

size_t ClientSession::OnRead(Buffer& input) {
  const FrameLimits limits{.max_body_size = environment_->options.max_body_size};
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
    if (call == nullptr) {
      OnAnswerToNobody();
      continue;
    }
    static_cast<SessionCall*>(call)->OnAnswer(frame_, info_.Of(*connection_));
  }
}

// Late, or never asked for; or the farewell of a server that closes this connection: it has
// answered all that it took, and looked at nothing beyond.
void ClientSession::OnAnswerToNobody() {
  if (!IsFarewell(frame_.meta)) return;
  // A copy: calls that end may bring others, and with them other frames.
  const absl::Status why = absl::UnavailableError(frame_.meta.response().error_text());
  // Nor is what is started from now on until the connection is gone.
  farewell_ = true;
  connection_->Close(why, CloseMode::kAbort);
  // A server may close what is idle.
  if (observer_ != nullptr && !calls_.empty()) observer_->OnUnreachable(why);
  FailAll(kLogoff, why.message(), /*may_have_run=*/false);
}

void ClientSession::OnClose(const absl::Status& why) {
  const std::shared_ptr<ClientSession> alive = shared_from_this();
  connection_ = nullptr;
  if (!calls_.empty()) {
    if (observer_ != nullptr) observer_->OnUnreachable(why);
    FailAll(farewell_ ? kLogoff : ErrorCodeOf(why),
            absl::StrCat("connection to ", target_.text, ": ", why.message()),
            /*may_have_run=*/!farewell_);
  }
  if (connection_ == nullptr) info_.Forget();
  if (std::exchange(probe_when_closed_, false) && !retired_ && connection_ == nullptr &&
      !connecting_) {
    Connect();
  }
  LetGoIfDone();
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
  const bool connected = connection_ != nullptr;
  const std::string text = absl::StrCat(
      "deadline exceeded: ", connected ? "no answer came from " : "there was no connection yet to ",
      target_.text);
  calls_.Expire(loop_.now(), [&](PendingCall& call) {
    Fail(static_cast<SessionCall&>(call), kRpcTimedOut, text, connected);
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
