// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/server_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/errors.h"
#include "rpc/session/server/limits/timeout_options.h"
#include "rpc/session/server/protocol_guess.h"
#include "rpc/session/server/server_brpc_rdma.h"
#include "rpc/session/server/server_frames.h"
#include "transport/base/check.h"
#include "transport/loop/loop_group.h"

namespace farcall {
namespace {

// Reading stops while more than this waits to be sent: the transport's own mark, after
// which it tells by OnDrained.
constexpr ConnectionOptions kWater;

// The client of a unix socket has no address of its own.
std::string PeerName(const ConnectionInfo& info) {
  if (info.peer.family() != AddressFamily::kNone) return info.peer.ToString();
  return absl::StrCat("a client of ", info.local.ToString());
}

// Each call keeps the core for a moment: by a count that only its loop writes.
std::shared_ptr<ServerCore> WithOwnCount(std::shared_ptr<ServerCore> core) {
  ServerCore* const same = core.get();
  return std::shared_ptr<ServerCore>(same, [core = std::move(core)](ServerCore*) {});
}

size_t IndexOf(const LoopGroup* loops, const EventLoop& loop) {
  size_t index = 0;
  while (loops != nullptr && index < loops->size() && &loops->at(index) != &loop) ++index;
  return index;
}

bool IsOrderlyEnd(const absl::Status& why) {
  return why.code() == absl::StatusCode::kUnavailable || why.code() == absl::StatusCode::kCancelled;
}

}  // namespace

void ServerSession::Accept(std::shared_ptr<ServerCore> core, EventLoop& loop,
                           std::unique_ptr<Connection> connection) {
  const std::shared_ptr<ServerSession> session(
      new ServerSession(std::move(core), loop, std::move(connection)));
  if (!session->core_->Add(session)) {
    session->connection_ = nullptr;
    return;
  }
  session->self_ = session;
  // Its peer waits for answers.
  loop.NeedThread(+1);
  session->connection_->Start(*session);
  const TimePoint look = session->timeouts_.first_look();
  if (look != TimePoint::max()) loop.SetTimer(session->timeout_timer_, look);
}

ServerSession::ServerSession(std::shared_ptr<ServerCore> core, EventLoop& loop,
                             std::unique_ptr<Connection> connection)
    : core_(WithOwnCount(std::move(core))),
      loop_(loop),
      loop_index_(IndexOf(core_->parts.loops, loop)),
      connection_(std::move(connection)),
      pool_(connection_->pool()),
      output_(loop, pool_),
      pool_caller_(loop, core_->handlers.get()),
      timeouts_(TimeoutLimits(core_->options), loop.now()),
      timeout_timer_([this] { OnTimeout(); }),
      memory_timer_([this] { OnMemoryWatch(); }),
      last_look_([this] { OnLastLook(); }),
      since_(loop.now()),
      authenticated_(core_->options.auth == nullptr) {
  output_.SetConnection(*connection_);
  static_cast<void>(info_.Of(*connection_));
}

ServerSession::~ServerSession() {
  Check(connection_ == nullptr && calls_ == nullptr, "a session ends before it dies");
}

// False: more bytes are needed to tell.
bool ServerSession::ChooseProtocol(const Buffer& input) {
  char scratch[kProtocolGuessBytes];
  const size_t some = std::min(input.size(), kProtocolGuessBytes);
  switch (GuessProtocol(input.Front(some, scratch))) {
    case ProtocolGuess::kTooFewBytes:
      return false;
    case ProtocolGuess::kHttp:
      if (core_->http) protocol_ = core_->http(*this);
      break;
    case ProtocolGuess::kBrpcRdma:
      protocol_ = std::make_unique<ServerBrpcRdma>(*this);
      break;
    case ProtocolGuess::kFrames:
    case ProtocolGuess::kUnknown:
      break;
  }
  // It says of what it does not know that it is no frame.
  if (protocol_ == nullptr) protocol_ = std::make_unique<ServerFrames>(*this);
  max_calls_ = protocol_->max_calls();
  return true;
}

absl::StatusOr<size_t> ServerSession::GoOnWithFrames(Buffer& input) {
  protocol_ = std::make_unique<ServerFrames>(*this);
  max_calls_ = protocol_->max_calls();
  return protocol_->OnRead(input);
}

// Answers of this very turn count: many may be made of the bytes of one read.
bool ServerSession::MayTake() {
  return !closing_ && !busy_ && !full() &&
         !written_.Above(kWater.high_water, [this] { return Backlog(); });
}

size_t ServerSession::OnRead(Buffer& input) {
  static_cast<void>(info_.Of(*connection_));
  if (protocol_ == nullptr && !ChooseProtocol(input)) {
    timeouts_.OnRead(/*whole=*/false, /*rest=*/true, loop_.now());
    return 0;
  }
  const uint64_t before = requests_;
  const absl::StatusOr<size_t> need = protocol_->OnRead(input);
  if (!need.ok()) {
    core_->counters.bad_peers.fetch_add(1, std::memory_order_relaxed);
    Close(need.status());
    return 0;
  }
  partial_ = protocol_->Held(input);
  UpdateReading();
  timeouts_.OnRead(requests_ != before, !paused_ && protocol_->MidRequest(input), loop_.now());
  return *need;
}

Buffer ServerSession::PlaceFor(size_t ahead, size_t bytes) {
  return protocol_ != nullptr ? protocol_->PlaceFor(ahead, bytes) : Buffer();
}

std::shared_ptr<void> ServerSession::HoldPlace() {
  return protocol_ != nullptr ? protocol_->HoldPlace() : nullptr;
}

bool ServerSession::AwaitsPlace() const { return protocol_ != nullptr && protocol_->AwaitsPlace(); }

void ServerSession::Submit(ServerCall& call) {
  Expect(call);
  Run(call);
}

void ServerSession::Run(ServerCall& call) {
  using Calling = HandlerPool::Calling;
  const bool later = core_->options.handlers_on_pool && connection_ != nullptr;
  if (!call.GoToPool(later ? Calling::kLater : Calling::kNow)) return loop_.RunUser(call);
  if (later) pool_caller_.CallLater();
}

void ServerSession::RunTask(UserTask& task) {
  core_->running.Begin(loop_index_);
  if (core_->options.handlers_on_pool && core_->handlers->Submit(task)) return;
  task.keeps_drive = core_->handlers == nullptr;
  loop_.RunUser(task);
}

void ServerSession::Write(absl::string_view head, Buffer&& body) {
  if (connection_ == nullptr) return;
  written_.Add(head.size() + body.size());
  // What is beyond the pool is small, and bounded by the backlog.
  output_.Write(head, std::move(body));
}

void ServerSession::SetBusy(bool busy) {
  if (connection_ == nullptr) return;
  busy_ = busy;
  timeouts_.OnAnswer(loop_.now());
  UpdateReading();
}

void ServerSession::Respond(ServerCall& call, absl::string_view head, Buffer&& body) {
  Unlist(call);
  if (connection_ != nullptr) {
    Write(head, std::move(body));
    timeouts_.OnAnswer(loop_.now());
    UpdateReading();
  }
  // The list's, and that of this answer. Last: the call may be all that keeps this session.
  call.Unref(2);
}

// Before the first bytes the protocol of a GOAWAY is not known: what has come unread shows it.
void ServerSession::Close(const absl::Status& why) {
  if (connection_ == nullptr || closing_) return;
  if (protocol_ != nullptr || !absl::IsCancelled(why)) return CloseNow(why);
  if (last_look_.pending()) return;
  loop_.CancelTimer(timeout_timer_);
  why_ = why;
  loop_.SetTimer(last_look_, loop_.now());
}

void ServerSession::OnLastLook() {
  if (protocol_ != nullptr || --turns_to_look_ == 0) return CloseNow(why_);
  loop_.SetTimer(last_look_, loop_.now());
}

void ServerSession::CloseNow(const absl::Status& why) {
  closing_ = true;
  loop_.CancelTimer(timeout_timer_);
  loop_.CancelTimer(last_look_);
  const bool all_answered = call_count_ == 0 && !busy_;
  if (absl::IsCancelled(why) && all_answered) SendGoAway();
  output_.Flush();
  connection_->Close(why, CloseMode::kFlush);
}

// A peer of which nothing was read may have sent a request all the same, and only a GOAWAY
// tells it that this was not run. A peer whose protocol is unknown is answered with frames.
void ServerSession::SendGoAway() {
  if (protocol_ != nullptr) return protocol_->SendGoAway();
  ServerFrames(*this).SendGoAway();
}

std::optional<ServerConnectionView> ServerSession::View() {
  if (connection_ == nullptr) return std::nullopt;
  ServerConnectionView view;
  view.info = connection_->info();
  if (protocol_ != nullptr) view.protocol = protocol_->name();
  if (auth_context_ != nullptr) view.user = auth_context_->user;
  view.since = since_;
  view.calls = call_count_;
  view.requests = requests_;
  return view;
}

void ServerSession::OnDrained() {
  backlogged_ = false;
  UpdateReading();
}

void ServerSession::UpdateReading() {
  backlogged_ |= written_.Above(kWater.high_water, [this] { return Backlog(); });
  if (partial_ + written_.most() >= MemoryHolders::kMuch) WatchMemory();
  const bool pause = backlogged_ || busy_ || full();
  if (pause == paused_) return;
  paused_ = pause;
  if (pause) {
    timeouts_.OnPause();
    connection_->PauseRead();
  } else {
    connection_->ResumeRead();
  }
}

void ServerSession::OnTimeout() {
  const SessionTimeouts::State state{.under_way = call_count_ > 0 || busy_,
                                     .held_up = Backlog(),
                                     .sent = connection_->info().bytes_written};
  const SessionTimeouts::Look look = timeouts_.At(loop_.now(), state);
  if (look.verdict != SessionTimeouts::Verdict::kWait) {
    core_->counters.timed_out.fetch_add(1, std::memory_order_relaxed);
    return Close(WhyGivenUp(look.verdict, core_->options));
  }
  // One that was alone on its loop has a block.
  if (!state.under_way && state.held_up == 0) output_.Leave();
  if (look.again != TimePoint::max()) loop_.SetTimer(timeout_timer_, look.again);
}

void ServerSession::Log(absl::string_view what) {
  core_->LogPeer(absl::StrCat("connection from ", PeerName(*info_.last()), " ", what));
}

void ServerSession::OnClose(const absl::Status& why) {
  if (!IsOrderlyEnd(why)) Log(absl::StrCat("closed: ", why.message()));
  output_.Forget();
  pool_caller_.CallNow();
  connection_ = nullptr;
  loop_.NeedThread(-1);
  loop_.CancelTimer(timeout_timer_);
  loop_.CancelTimer(last_look_);
  loop_.CancelTimer(memory_timer_);
  // A call whose closure is forgotten keeps the session, and must not keep blocks by it.
  protocol_ = nullptr;
  if (calls_ != nullptr) EndCalls(why);
  const std::shared_ptr<ServerSession> self = std::move(self_);
  core_->Remove(self);
}

}  // namespace farcall
