// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_CALL_H_
#define FARCALL_RPC_HTTP_HTTP_CALL_H_

#include <memory>

#include "rpc/authenticator.h"
#include "rpc/http/http_call_request.h"
#include "rpc/http/http_writer.h"
#include "rpc/session/server/server_call.h"
#include "rpc/session/server/server_session.h"

namespace farcall {

// A call that came as an HTTP request. Attachments have no place in JSON: the handler finds none,
// and what it sends as one is dropped.
class HttpCall final : public ServerCall {
 public:
  // `user` null: no authenticator was asked.
  HttpCall(ServerSession& session, const Admission& admission, HttpCallRequest request,
           const HttpAnswerForm& form, std::shared_ptr<const AuthContext> user);

 private:
  ~HttpCall() override = default;
  absl::Status ParseRequest(google::protobuf::Message& request) override;
  void SendAnswer(const google::protobuf::Message* response) override;

  // `code` becomes that of a failure where the answer is one all the same.
  HttpResponse Success(const google::protobuf::Message& response, int& code);
  HttpResponse Failure(int code, absl::string_view text);

  const HttpBodyKind kind_;
  const HttpAnswerForm form_;
  Buffer body_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_CALL_H_
