// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/sim/tampering_transport.h"

#include <utility>

namespace farcall {
namespace {

class TamperedConnection final : public Connection {
 public:
  TamperedConnection(std::unique_ptr<Connection> inner, Tamper tamper, uint64_t seed)
      : inner_(std::move(inner)), tamper_(tamper), random_(seed) {}

  void Start(Handler& handler) override { inner_->Start(handler); }
  void Write(Buffer data) override {
    if (tamper_ != Tamper::kNothing && random_.Chance(0.05)) {
      if (tamper_ == Tamper::kRepeat) {
        inner_->Write(data.Share());
      } else {
        data.RemoveFront(1 + random_.Below(data.size()));
      }
    }
    inner_->Write(std::move(data));
  }
  void PauseRead() override { inner_->PauseRead(); }
  void ResumeRead() override { inner_->ResumeRead(); }
  void Close(absl::Status why, CloseMode mode) override { inner_->Close(std::move(why), mode); }
  size_t backlog() const override { return inner_->backlog(); }
  BlockPool& pool() override { return inner_->pool(); }
  ConnectionInfo info() const override { return inner_->info(); }

 private:
  const std::unique_ptr<Connection> inner_;
  const Tamper tamper_;
  TestRandom random_;
};

}  // namespace

void TamperingTransport::Connect(EventLoop& loop, const Address& peer,
                                 const ConnectOptions& options, OnConnect done) {
  inner_.Connect(loop, peer, options,
                 [tamper = tamper_, seed = random_.Next(), done = std::move(done)](
                     absl::StatusOr<std::unique_ptr<Connection>> connection) mutable {
                   if (!connection.ok()) return done(connection.status());
                   done(std::make_unique<TamperedConnection>(*std::move(connection), tamper, seed));
                 });
}

}  // namespace farcall
