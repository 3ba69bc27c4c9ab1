// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_PAGE_TASK_H_
#define FARCALL_RPC_HTTP_HTTP_PAGE_TASK_H_

#include <memory>

#include "rpc/http/http_message.h"
#include "rpc/http/http_page.h"
#include "rpc/http/http_writer.h"
#include "rpc/session/server/server_session.h"
#include "transport/loop/queues/user_queue.h"

namespace farcall {

// A page that is being made where handlers run, since it may look into loops and take its time. The
// session is busy until its answer is written.
class HttpPageTask final : public UserTask {
 public:
  // For session.RunTask, once; it owns itself. `page` is of `pages`.
  static HttpPageTask& Make(ServerSession& session, std::shared_ptr<const HttpPages> pages,
                            const HttpPages::Entry& page, HttpRequest request,
                            const HttpAnswerForm& form);

  void Run() override;

 private:
  HttpPageTask(std::shared_ptr<ServerSession> session, std::shared_ptr<const HttpPages> pages,
               const HttpPages::Entry& page, HttpRequest request, const HttpAnswerForm& form);
  HttpResponse MakePage();

  const std::shared_ptr<ServerSession> session_;
  const std::shared_ptr<const HttpPages> pages_;
  const HttpPages::Entry& page_;
  const HttpRequest request_;
  const HttpAnswerForm form_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_PAGE_TASK_H_
