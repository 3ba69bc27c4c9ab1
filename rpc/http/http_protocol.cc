// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_protocol.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/errors.h"
#include "rpc/http/http_call.h"
#include "rpc/http/http_call_request.h"
#include "rpc/http/http_index.h"
#include "rpc/http/http_page_task.h"
#include "rpc/http/http_status.h"

namespace farcall {
namespace {

// Pages of one server that are made at the same time.
constexpr int kMaxPages = 4;

// A peer's text in a message: printable, and cut to what is worth showing.
std::string Shown(absl::string_view text) { return absl::CHexEscape(text.substr(0, 200)); }

HttpLimits LimitsOf(const ServerOptions& options) {
  return {.max_body_size = options.max_body_size};
}

bool Reads(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

HttpResponse Text(int status, absl::string_view text) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = BodyOf(absl::StrCat(text, "\n"));
  return response;
}

}  // namespace

HttpProtocol::HttpProtocol(ServerSession& session, std::shared_ptr<const HttpPages> pages)
    : session_(session),
      core_(*session.core()),
      pages_(std::move(pages)),
      reader_(LimitsOf(core_.options), session.pool()) {}

absl::StatusOr<size_t> HttpProtocol::OnRead(Buffer& input) {
  HttpRequest request;
  while (session_.MayTake()) {
    switch (reader_.Read(input, request)) {
      case HttpReader::Result::kMore:
        return WantsRest() ? reader_.need() : 0;
      case HttpReader::Result::kContinue:
        if (WantsRest()) session_.Write(kHttpContinue, Buffer());
        break;
      case HttpReader::Result::kRequest:
        session_.Took();
        OnRequest(request);
        break;
      case HttpReader::Result::kRefused: {
        const HttpRefusal& refusal = reader_.refusal();
        form_ = {.keep_alive = false};
        Write(HttpErrorAnswer(refusal.status, refusal.status == 503 ? kOvercrowded : kBadRequest,
                              refusal.text));
        return absl::InvalidArgumentError(
            absl::StrCat("HTTP ", refusal.status, ": ", refusal.text));
      }
    }
  }
  return 0;
}

// Of a request whose head has come: no body is kept for who has not shown a credential. If not,
// it was answered, and the connection closes.
bool HttpProtocol::WantsRest() {
  const HttpRequest* const head = reader_.head();
  if (head == nullptr || authenticated_ || core_.options.auth == nullptr) return true;
  form_ = HttpAnswerForm::Of(*head);
  form_.keep_alive = false;
  if (head->path == "/health") {
    OnHealth(*head);
    return false;
  }
  authenticated_ = Authenticate(*head);
  return authenticated_;
}

void HttpProtocol::OnRequest(HttpRequest& request) {
  form_ = HttpAnswerForm::Of(request);
  // A client that keeps its connection would find the next request unanswered.
  if (core_.stopping.load()) form_.keep_alive = false;
  const bool reads = Reads(request);
  // Before authentication: probes have no credential, and learn nothing else.
  if (request.path == "/health") return OnHealth(request);
  if (!std::exchange(authenticated_, false) && !Authenticate(request)) return;
  if (const HttpPages::Entry* const page = pages_->Find(request.path)) {
    return reads ? OnPage(*page, request) : WrongMethod("GET, HEAD");
  }
  if (request.path == "/") {
    return reads ? Answer(HttpIndex(*pages_, core_.services)) : WrongMethod("GET, HEAD");
  }
  OnCall(request);
}

void HttpProtocol::OnHealth(const HttpRequest& request) {
  if (!Reads(request)) return WrongMethod("GET, HEAD");
  Answer(core_.stopping.load() ? Text(503, "the server is stopping") : Text(200, "OK"));
}

// Each request by itself, unlike a connection of baidu_std: what is behind a proxy comes from many
// clients on one connection.
bool HttpProtocol::Authenticate(const HttpRequest& request) {
  user_ = nullptr;
  if (core_.options.auth == nullptr) return true;
  const std::string* const credential = request.Find("Authorization");
  auto user = core_.Verify(credential != nullptr ? *credential : "", session_.info()->peer);
  if (user.ok()) {
    user_ = std::make_shared<const AuthContext>(*std::move(user));
    return true;
  }
  core_.counters.auth_failed.fetch_add(1, std::memory_order_relaxed);
  form_.keep_alive = false;
  HttpResponse response = HttpErrorAnswer(401, kAuthFailed, user.status().message());
  // RFC 9110, section 15.5.2, wants a scheme; which one, the Authenticator decides.
  response.fields.push_back({"WWW-Authenticate", "Bearer"});
  Answer(std::move(response));
  return false;
}

void HttpProtocol::OnPage(const HttpPages::Entry& page, HttpRequest& request) {
  // They look into every loop, on the threads of the calls: a crowd of them must not be in the way.
  if (!core_.pages.Begin(kMaxPages)) {
    return Answer(HttpErrorAnswer(503, kLimit, "too many pages are being made: ask again later"));
  }
  // Asked after counting: Stop sets it before it waits for pages.
  if (core_.calls_over.load()) {
    core_.pages.End();
    return Fail(kLogoff, "the server is stopping");
  }
  session_.SetBusy(true);
  session_.RunTask(HttpPageTask::Make(session_, pages_, page, std::move(request), form_));
}

void HttpProtocol::OnCall(HttpRequest& request) {
  const MethodPath path = SplitMethodPath(request.path);
  const ServiceMap::Found found = core_.services.Find(path.service, path.method);
  if (found.method == nullptr) {
    core_.counters.not_found.fetch_add(1, std::memory_order_relaxed);
    if (found.service == nullptr) {
      return Fail(kNoService, absl::StrCat("nothing is at \"", Shown(request.path),
                                           "\": / lists the pages and services that are here"));
    }
    return Fail(kNoMethod,
                absl::StrCat("service ", found.service->GetDescriptor()->full_name(),
                             " has no method \"", Shown(path.method), "\": / lists them"));
  }
  if (request.method != "POST" && request.method != "GET") return WrongMethod("GET, POST");
  HttpCallRequest call;
  if (const HttpRefusal refusal = ReadCallRequest(request, session_.loop().now(), call);
      refusal.status != 0) {
    return Answer(HttpErrorAnswer(refusal.status, kBadRequest, refusal.text));
  }
  ServerCall::Admission admission;
  if (const Refusal refusal = session_.Admit(found, admission); refusal.code != 0) {
    return Fail(refusal.code, refusal.text);
  }
  session_.Submit(*new HttpCall(session_, admission, std::move(call), form_, user_));
}

void HttpProtocol::Write(HttpResponse response) {
  HttpAnswerBytes bytes(std::move(response), form_);
  session_.Write(bytes.head, std::move(bytes.body));
}

void HttpProtocol::Answer(HttpResponse response) {
  Write(std::move(response));
  if (!form_.keep_alive) session_.Close(absl::CancelledError("its last HTTP answer was sent"));
}

void HttpProtocol::Fail(int code, absl::string_view text) {
  Answer(HttpErrorAnswer(HttpStatusOf(code), code, text));
}

void HttpProtocol::WrongMethod(absl::string_view allowed) {
  HttpResponse response = HttpErrorAnswer(
      405, kBadRequest, absl::StrCat("only ", allowed, " may be asked of this path"));
  response.fields.push_back({"Allow", std::string(allowed)});
  Answer(std::move(response));
}

void ServeHttp(ServerCore& core, HttpPages pages) {
  core.http = [shared = std::make_shared<const HttpPages>(std::move(pages))](
                  ServerSession& session) -> std::unique_ptr<ServerProtocol> {
    return std::make_unique<HttpProtocol>(session, shared);
  };
}

}  // namespace farcall
