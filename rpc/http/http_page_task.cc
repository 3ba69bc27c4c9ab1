// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_page_task.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/exception_text.h"

namespace farcall {

HttpPageTask& HttpPageTask::Make(ServerSession& session, std::shared_ptr<const HttpPages> pages,
                                 const HttpPages::Entry& page, HttpRequest request,
                                 const HttpAnswerForm& form) {
  return *new HttpPageTask(session.self(), std::move(pages), page, std::move(request), form);
}

HttpPageTask::HttpPageTask(std::shared_ptr<ServerSession> session,
                           std::shared_ptr<const HttpPages> pages, const HttpPages::Entry& page,
                           HttpRequest request, const HttpAnswerForm& form)
    : session_(std::move(session)),
      pages_(std::move(pages)),
      page_(page),
      request_(std::move(request)),
      form_(form) {}

void HttpPageTask::Run() {
  session_->loop().RunOrPost([session = session_, keep_alive = form_.keep_alive,
                              bytes = HttpAnswerBytes(MakePage(), form_)]() mutable {
    session->Write(bytes.head, std::move(bytes.body));
    session->SetBusy(false);
    if (!keep_alive) session->Close(absl::CancelledError("its last HTTP answer was sent"));
  });
  const std::shared_ptr<ServerCore> core = session_->core();
  const size_t part = session_->loop_index();
  delete this;
  core->pages.End();
  // Last: who waits for it may then end what the page stands on.
  core->running.End(part);
}

HttpResponse HttpPageTask::MakePage() {
  HttpPage page;
  const std::optional<std::string> thrown = ExceptionTextOf([&] { page = page_.make(request_); });
  if (thrown) {
    session_->core()->parts.log(LogSeverity::kError,
                                absl::StrCat("the page ", page_.path, " threw: ", *thrown));
    return HttpErrorAnswer(500, kInternal, absl::StrCat("exception: ", *thrown));
  }
  HttpResponse response;
  response.status = page.status;
  response.content_type = std::move(page.content_type);
  response.body = BodyOf(std::move(page.body));
  return response;
}

}  // namespace farcall
