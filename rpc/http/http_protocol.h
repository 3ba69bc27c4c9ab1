// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_PROTOCOL_H_
#define FARCALL_RPC_HTTP_HTTP_PROTOCOL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/authenticator.h"
#include "rpc/http/http_message.h"
#include "rpc/http/http_page.h"
#include "rpc/http/http_reader.h"
#include "rpc/http/http_writer.h"
#include "rpc/session/server/server_protocol.h"
#include "rpc/session/server/server_session.h"

namespace farcall {

// HTTP/1.1 for one connection to a server: calls of its services, /health, the pages, and an index
// of all that at "/". One request at a time; those behind it wait in the socket.
class HttpProtocol final : public ServerProtocol {
 public:
  // `session` outlives this.
  HttpProtocol(ServerSession& session, std::shared_ptr<const HttpPages> pages);

  absl::string_view name() const override { return "http/1.1"; }
  int max_calls() const override { return 1; }
  absl::StatusOr<size_t> OnRead(Buffer& input) override;
  bool MidRequest(const Buffer& input) const override { return reader_.begun() || !input.empty(); }
  size_t Held(const Buffer& input) const override {
    return input.size() + (reader_.head() != nullptr ? reader_.head()->body.size() : 0);
  }

 private:
  void OnRequest(HttpRequest& request);
  void OnPage(const HttpPages::Entry& page, HttpRequest& request);
  void OnCall(HttpRequest& request);
  bool WantsRest();
  bool Authenticate(const HttpRequest& request);
  void OnHealth(const HttpRequest& request);
  void Write(HttpResponse response);
  // Writes, and closes where nothing is to follow.
  void Answer(HttpResponse response);
  void Fail(int code, absl::string_view text);
  void WrongMethod(absl::string_view allowed);

  ServerSession& session_;
  ServerCore& core_;
  const std::shared_ptr<const HttpPages> pages_;
  HttpReader reader_;
  // Of the request that is looked at.
  HttpAnswerForm form_;
  std::shared_ptr<const AuthContext> user_;
  bool authenticated_ = false;  // its head was, and its body is awaited
};

// Has `core`, whose server has not started, speak HTTP beside baidu_std, with `pages`.
void ServeHttp(ServerCore& core, HttpPages pages);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_PROTOCOL_H_
