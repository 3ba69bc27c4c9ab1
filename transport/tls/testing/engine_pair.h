// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TESTING_ENGINE_PAIR_H_
#define FARCALL_TRANSPORT_TLS_TESTING_ENGINE_PAIR_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/tls/testing/test_certificates.h"
#include "transport/tls/tls_engine.h"

namespace farcall {

// Keys for many pairs.
struct EngineContexts {
  TestCa ca;
  std::shared_ptr<const LoadedContext> client = *LoadClientContext(ca.Client());
  std::shared_ptr<const LoadedContext> server = *LoadServerContext(ca.Server());
};

// Has the server of `keys` send a ticket, in records of 512 bytes, that holds a large certificate
// of the client: a message that is more than one record, after the handshake.
inline void LargeTickets(EngineContexts& keys) {
  ServerTlsOptions server = keys.ca.Server();
  server.require_client_certificate = true;
  ClientTlsOptions client = keys.ca.Client();
  TestLeaf leaf;
  leaf.padding = 2000;
  client.files = keys.ca.Issue("client", leaf);
  keys.client = *LoadClientContext(client);
  keys.server = *LoadServerContext(server);
  SSL_CTX* const ctx = keys.server->ctx.get();
  SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);
  Check(
      SSL_CTX_set_num_tickets(ctx, 1) == 1 && SSL_CTX_set_max_send_fragment(ctx, 512) == 1 &&
          SSL_CTX_set_session_id_context(ctx, reinterpret_cast<const unsigned char*>("t"), 1) == 1,
      "OpenSSL makes tickets");
}

// Both ends of TLS without a network between. One thread.
class EnginePair {
 public:
  using Outcome = TlsEngine::Outcome;

  EnginePair(std::shared_ptr<const LoadedContext> for_client,
             std::shared_ptr<const LoadedContext> for_server,
             absl::string_view name = "server.test")
      : client(Made(TlsEngine::Client(std::move(for_client), name, *pool))),
        server(Made(TlsEngine::Server(std::move(for_server), *pool))) {}
  explicit EnginePair(TestCa& ca) : EnginePair(Loaded(ca.Client()), Loaded(ca.Server())) {}
  explicit EnginePair(const EngineContexts& contexts)
      : EnginePair(contexts.client, contexts.server) {}

  static std::shared_ptr<const LoadedContext> Loaded(const ClientTlsOptions& options) {
    return *LoadClientContext(options);
  }
  static std::shared_ptr<const LoadedContext> Loaded(const ServerTlsOptions& options) {
    return *LoadServerContext(options);
  }

  // The SSL of the engine made next from `context`, once its handshake has begun: for what only
  // odd peers do. Lives as long as the engine.
  static SSL** Catch(const LoadedContext& context) {
    static SSL* caught = nullptr;
    caught = nullptr;
    SSL_CTX_set_info_callback(context.ctx.get(),
                              [](const SSL* ssl, int, int) { caught = const_cast<SSL*>(ssl); });
    return &caught;
  }

  // Until neither says more. Whether both were done.
  bool Shake() {
    for (;;) {
      if (client_outcome == Outcome::kMore) client_outcome = client->Handshake(to_client);
      if (server_outcome == Outcome::kMore) server_outcome = server->Handshake(to_server);
      to_server.Append(client->TakeOutput());
      Buffer answer = server->TakeOutput();
      const bool over = server_outcome != Outcome::kMore && client_outcome != Outcome::kMore;
      const bool silent = answer.empty() && to_server.empty();
      to_client.Append(std::move(answer));
      if (over || silent) break;
    }
    return client_outcome == Outcome::kDone && server_outcome == Outcome::kDone;
  }
  // What `from` makes of `text`.
  static Buffer Encrypted(TlsEngine& from, absl::string_view text) {
    for (Buffer plain(text); !plain.empty();) Check(from.Write(plain), "a test's engine encrypts");
    return from.TakeOutput();
  }

  std::unique_ptr<BlockPool> pool = *BlockPool::Create(BlockPoolOptions());
  std::unique_ptr<TlsEngine> client;
  std::unique_ptr<TlsEngine> server;
  Outcome client_outcome = Outcome::kMore;
  Outcome server_outcome = Outcome::kMore;
  Buffer to_client;  // under way
  Buffer to_server;

 private:
  static std::unique_ptr<TlsEngine> Made(absl::StatusOr<std::unique_ptr<TlsEngine>> engine) {
    Check(engine.ok(), "a test makes engines");
    return *std::move(engine);
  }
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TESTING_ENGINE_PAIR_H_
