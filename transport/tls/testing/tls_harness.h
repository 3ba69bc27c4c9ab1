// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TESTING_TLS_HARNESS_H_
#define FARCALL_TRANSPORT_TLS_TESTING_TLS_HARNESS_H_

#include <memory>
#include <utility>

#include "transport/base/check.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/tls/testing/test_certificates.h"
#include "transport/tls/tls_context.h"
#include "transport/tls/tls_transport.h"

namespace farcall {

// TLS for whatever is connected and listened to. One pair of keys for the whole process.
struct TestTls {
  std::shared_ptr<TlsClientContext> client;
  std::shared_ptr<TlsServerContext> server;

  static const TestTls& Usual() {
    static TestCa ca;  // its directory goes with the process
    static const TestTls* const usual = new TestTls(Of(ca.Client(), ca.Server()));
    return *usual;
  }
  static TestTls Of(ClientTlsOptions client, ServerTlsOptions server) {
    // The simulated network has addresses that no certificate names.
    if (client.server_name.empty()) client.server_name = "server.test";
    server.files.reload_interval = std::chrono::hours(1);
    auto for_client = LoadTls(client, nullptr);
    auto for_server = LoadTls(server, nullptr);
    Check(for_client.ok() && for_server.ok(), "a test's certificates load");
    return {*std::move(for_client), *std::move(for_server)};
  }
};

// A Transport that sets the TLS of all it makes.
class AlwaysTls final : public Transport {
 public:
  AlwaysTls(Transport& inner, TestTls tls) : tls_transport_(inner), tls_(std::move(tls)) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override {
    ConnectOptions with = options;
    with.tls = tls_.client;
    tls_transport_.Connect(loop, peer, with, std::move(done));
  }
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override {
    ListenOptions with = options;
    with.tls = tls_.server;
    return tls_transport_.Listen(loops, address, with, std::move(on_accept));
  }

 private:
  TlsTransport tls_transport_;
  const TestTls tls_;
};

// TLS over another harness's Transport, for the conformance suite.
class TlsHarness final : public ConformanceHarness {
 public:
  explicit TlsHarness(std::unique_ptr<ConformanceHarness> inner,
                      const TestTls& tls = TestTls::Usual())
      : inner_(std::move(inner)), transport_(inner_->transport(), tls) {}

  Transport& transport() override { return transport_; }
  LoopGroup& loops() override { return inner_->loops(); }
  BlockPool& pool() override { return inner_->pool(); }
  Address FreeAddress() override { return inner_->FreeAddress(); }
  Address RefusingAddress() override { return inner_->RefusingAddress(); }
  Address SilentAddress() override { return inner_->SilentAddress(); }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override { inner_->Run(loop, work); }
  bool Until(absl::FunctionRef<bool()> done) override { return inner_->Until(done); }
  void Settle() override { inner_->Settle(); }
  void End() override { inner_->End(); }
  uint64_t seed() const override { return inner_->seed(); }
  size_t LargestMessage() const override { return inner_->LargestMessage(); }
  size_t MoreThanFits() const override { return inner_->MoreThanFits(); }

  // Without TLS.
  Transport& plain() { return inner_->transport(); }

 private:
  const std::unique_ptr<ConformanceHarness> inner_;
  AlwaysTls transport_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TESTING_TLS_HARNESS_H_
