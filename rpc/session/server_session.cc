// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server_session.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/session/answer_meta.h"
#include "rpc/session/cancel_notice.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// Reading stops while more than this waits to be sent: the transport's own mark, after
// which it tells by OnDrained.
constexpr ConnectionOptions kWater;

// A peer's text in a message: printable, and cut to what is worth showing.
std::string Shown(absl::string_view text) { return absl::CHexEscape(text.substr(0, 200)); }

// The client of a unix socket has no address of its own.
std::string PeerName(const ConnectionInfo& info) {
  if (info.peer.family() != AddressFamily::kNone) return info.peer.ToString();
  return absl::StrCat("a client of ", info.local.ToString());
}

bool IsOrderlyEnd(const absl::Status& why) {
  return why.code() == absl::StatusCode::kUnavailable || why.code() == absl::StatusCode::kCancelled;
}

}  // namespace

void ServerSession::Accept(std::shared_ptr<ServerCore> core, EventLoop& loop,
                           std::unique_ptr<Connection> connection) {
  const std::shared_ptr<ServerSession> session(
      new ServerSession(std::move(core), loop, std::move(connection)));
  if (session->core_->Add(session)) {
    session->connection_->Start(*session);
  } else {
    session->connection_ = nullptr;
  }
}

ServerSession::ServerSession(std::shared_ptr<ServerCore> core, EventLoop& loop,
                             std::unique_ptr<Connection> connection)
    : core_(std::move(core)),
      loop_(loop),
      connection_(std::move(connection)),
      writer_(std::in_place, *core_->parts.pool) {
  static_cast<void>(info_.Of(*connection_));
}

ServerSession::~ServerSession() {
  Check(connection_ == nullptr && calls_ == nullptr, "a session ends before it dies");
}

size_t ServerSession::OnRead(Buffer& input) {
  const FrameLimits limits{.max_body_size = core_->options.max_body_size};
  size_t need = 0;
  // What is over the limit stays in `input` until reading goes on.
  while (call_count_ < core_->options.max_concurrency_per_connection) {
    const absl::StatusOr<size_t> cut = CutFrame(input, limits, frame_);
    if (!cut.ok()) {
      connection_->Close(cut.status(), CloseMode::kFlush);
      return 0;
    }
    need = *cut;
    if (need != 0) break;
    OnRequest();
  }
  UpdateReading();
  return need;
}

void ServerSession::OnRequest() {
  const wire::RpcMeta& meta = frame_.meta;
  if (!meta.has_request()) return Refuse(kBadRequest, "the meta has no request");
  const wire::RpcRequestMeta& request = meta.request();
  const ServiceMap::Found found =
      core_->services.Find(request.service_name(), request.method_name());
  if (found.service == nullptr) {
    return Refuse(kNoService,
                  absl::StrCat("no service \"", Shown(request.service_name()), "\" here"));
  }
  if (found.method == nullptr) {
    return Refuse(kNoMethod, absl::StrCat("service ", found.service->GetDescriptor()->full_name(),
                                          " has no method \"", Shown(request.method_name()), "\""));
  }
  if (meta.compress_type() != wire::COMPRESS_NONE) {
    return Refuse(kBadRequest, absl::StrCat("compress_type ", meta.compress_type(),
                                            " is not supported: send uncompressed requests"));
  }
  if (meta.content_type() != wire::CONTENT_PROTOBUF) {
    return Refuse(kBadRequest, absl::StrCat("content_type ", meta.content_type(),
                                            " is not supported: send protobuf"));
  }
  const bool admitted = core_->unanswered.Begin(core_->options.max_concurrency.number());
  // Asked after counting: Stop sets it before it waits, so it waits for all that are admitted.
  if (core_->stopping.load()) {
    if (admitted) core_->unanswered.End();
    return Refuse(kLogoff, "the server is stopping");
  }
  if (!admitted) {
    return Refuse(kLimit,
                  absl::StrCat("max_concurrency ", core_->options.max_concurrency.number(), " is reached"));
  }
  core_->running.Begin();
  ServerCall& call = *new ServerCall(core_, shared_from_this(), found, frame_, loop_.now());
  List(call);
  if (core_->handlers != nullptr) {
    core_->handlers->Submit(call);
  } else {
    loop_.RunUser(call);
  }
}

void ServerSession::Respond(ServerCall& call, absl::string_view head, Buffer body) {
  Unlist(call);
  call.Unref();
  if (connection_ == nullptr) return;
  Buffer frame;
  WriteHead(head, frame);
  frame.Append(std::move(body));
  connection_->Write(std::move(frame));
  UpdateReading();
}

// An answer without a call.
void ServerSession::Refuse(int code, absl::string_view text) {
  wire::RpcMeta& meta = AnswerMeta(frame_.meta.correlation_id(), code, text);
  const auto encoder = FrameEncoder::Create(meta, nullptr, 0);
  Check(encoder.ok(), "an error without a message can be encoded");
  std::string head(encoder->head_size(), '\0');
  encoder->WriteTo(head.data());
  Buffer frame;
  WriteHead(head, frame);
  connection_->Write(std::move(frame));
}

void ServerSession::WriteHead(absl::string_view head, Buffer& out) {
  // Small, and bounded by the backlog: it may leave the pool when that is at its limit.
  if (!head.empty() && !writer_->Append(head, out)) out.Append(head);
}

void ServerSession::Close(const absl::Status& why) {
  if (connection_ != nullptr) connection_->Close(why, CloseMode::kFlush);
}

void ServerSession::OnDrained() {
  backlogged_ = false;
  UpdateReading();
}

void ServerSession::UpdateReading() {
  backlogged_ |= connection_->backlog() > kWater.high_water;
  const bool pause = backlogged_ || call_count_ >= core_->options.max_concurrency_per_connection;
  if (pause == paused_) return;
  paused_ = pause;
  if (pause) {
    connection_->PauseRead();
  } else {
    connection_->ResumeRead();
  }
}

void ServerSession::OnClose(const absl::Status& why) {
  if (!IsOrderlyEnd(why)) {
    core_->parts.log(
        LogSeverity::kWarning,
        absl::StrCat("connection from ", PeerName(*info_.last()), " closed: ", why.message()));
  }
  connection_ = nullptr;
  // A call whose closure is forgotten keeps the session, and must not keep blocks by it.
  writer_.reset();
  frame_ = Frame();
  if (calls_ != nullptr) CancelNotice::Queue(loop_, calls_);
  core_->Remove(shared_from_this());
}

void ServerSession::List(ServerCall& call) {
  call.Ref();
  call.next = calls_;
  if (calls_ != nullptr) calls_->previous = &call;
  calls_ = &call;
  ++call_count_;
}

void ServerSession::Unlist(ServerCall& call) {
  (call.previous != nullptr ? call.previous->next : calls_) = call.next;
  if (call.next != nullptr) call.next->previous = call.previous;
  --call_count_;
  call.Unref();
}

}  // namespace farcall
