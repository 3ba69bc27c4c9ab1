// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/brpc_sim_server.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"

namespace farcall {
namespace {

constexpr char kOurs[] = "\xFA\x43\x4C\x48";
constexpr char kBrpcs[] = "RDMA";
constexpr char kPlain[] = "PRPC";

}  // namespace

std::string BrpcSimServer::Run() {
  does_ = static_cast<Does>(set_.random.Below(11));
  server_ = std::make_unique<RawServer>(harness_, harness_.tcp(), [this](RawPeer& peer) {
    Visit& visit = visits_.emplace_back(Visit{.loop = peer.loop()});
    peer.on_read = [this, &visit](RawPeer& self) { OnRead(self, visit); };
  });
  const bool serves = does_ == Does::kServe || does_ == Does::kByte || does_ == Does::kLeave;
  using Texts = std::vector<std::string>;
  Texts first = serves ? Texts{kOurs, kBrpcs} : Texts{kOurs, kBrpcs, kPlain};
  if (does_ == Does::kDeaf) first = {kOurs, kPlain};
  const Texts second = serves ? Texts{kBrpcs} : Texts{kPlain};
  for (const Texts& wanted : {first, second, first}) {
    if (Connect()) Call();
    const Texts openings = Openings();
    // Whoever dies with the decision may do so before or after the client takes it for made.
    const bool known = !set_.faulty && does_ != Does::kDecisionDie;
    set_.Expect(!known || openings == wanted, "it begins with " + absl::StrJoin(openings, ", "));
    client_.reset();
    harness_.Settle();
    if (wanted != first) {
      set_.Pass(std::chrono::seconds(31));
      set_.Pass(std::chrono::seconds(31));
    }
  }
  ForgetVisits();
  server_.reset();
  return set_.Finish();
}

void BrpcSimServer::OnRead(RawPeer& peer, Visit& visit) {
  if (visit.opening.empty() && peer.received.size() < 4) return;
  if (visit.opening.empty()) visit.opening = peer.received.substr(0, 4);
  if (visit.opening == kPlain) return peer.Send(std::exchange(peer.received, ""));
  if (does_ == Does::kDeaf) return;
  if (visit.opening != kBrpcs) return peer.Close(CloseMode::kAbort);
  if (!visit.answered) return OnHello(peer, visit);
  if (!visit.decided) return OnDecision(peer, visit);
  set_.Expect(false, "the client sends by TCP behind its decision");
}

void BrpcSimServer::OnHello(RawPeer& peer, Visit& visit) {
  if (visit.pair != nullptr) return set_.Expect(false, "it sends behind its hello");
  Buffer input(peer.received);
  BrpcHello hello;
  const absl::StatusOr<size_t> need = CutBrpcHello(input, hello);
  if (need.ok() && *need != 0) return;
  set_.Expect(need.ok() && hello.usable.ok(), "the client's hello is bad");
  set_.Expect(input.empty(), "it sends behind its hello");
  peer.received.clear();
  switch (does_) {
    case Does::kClose:
      return peer.Close(CloseMode::kAbort);
    case Does::kNothing:
      return;
    case Does::kFellBack:
    case Does::kOff:
      visit.answered = true;
      return peer.Send(EncodeBrpcRefusal(
          hello.version, does_ == Does::kOff ? BrpcRefusal::kOff : BrpcRefusal::kFellBack));
    default:
      return Accept(peer, visit, hello);
  }
}

void BrpcSimServer::Accept(RawPeer& peer, Visit& visit, const BrpcHello& hello) {
  BrpcWish wish;
  wish.peer = hello.end;
  visit.pair = harness_.server_rdma().MakeForBrpc(
      peer.loop(), wish,
      [this, &peer, &visit](const absl::StatusOr<BrpcEnd>& made) { Answer(peer, visit, made); });
}

void BrpcSimServer::Answer(RawPeer& peer, Visit& visit, const absl::StatusOr<BrpcEnd>& own) {
  visit.answered = true;
  if (!own.ok()) {
    return peer.Send(EncodeBrpcRefusal(BrpcVersion::kSecond, BrpcRefusal::kFellBack));
  }
  const std::string hello = EncodeBrpcHello(BrpcVersion::kSecond, *own);
  peer.Send(does_ == Does::kHalf ? hello.substr(0, 20) : hello);
  if (does_ == Does::kHalf || does_ == Does::kAnswerDie) Die(peer, visit);
}

void BrpcSimServer::OnDecision(RawPeer& peer, Visit& visit) {
  if (peer.received.size() < 4) return;
  visit.decided = true;
  const bool rdma = peer.received == EncodeBrpcDecision(true);
  set_.Expect(rdma || peer.received == EncodeBrpcDecision(false), "more than a decision, or none");
  peer.received.clear();
  if (!rdma) return;
  if (does_ == Does::kDecisionDie) return Die(peer, visit);
  visit.pair->Open([this, &peer, &visit](absl::StatusOr<std::unique_ptr<Connection>> opened) {
    if (!opened.ok()) return Die(peer, visit);
    visit.rdma = std::make_unique<RawPeer>(harness_, peer.loop(), *std::move(opened));
    visit.rdma->on_read = [this, &peer, &visit](RawPeer&) { OnRdma(peer, visit); };
  });
}

void BrpcSimServer::OnRdma(RawPeer& peer, Visit& visit) {
  visit.rdma->Send(std::exchange(visit.rdma->received, ""));
  if (does_ == Does::kByte) peer.Send("P");
  if (does_ == Does::kLeave) Die(peer, visit);
}

void BrpcSimServer::Die(RawPeer& peer, Visit& visit) {
  peer.Close(CloseMode::kFlush);
  if (visit.rdma == nullptr) visit.pair.reset();
}

void BrpcSimServer::ForgetVisits() {
  for (Visit& visit : visits_) {
    visit.rdma.reset();
    harness_.Run(visit.loop, [&visit] { visit.pair.reset(); });
  }
  server_->peers.clear();
  visits_.clear();
}

bool BrpcSimServer::Connect() {
  ForgetVisits();
  // The result of a client that waits for ever comes after the wait for it has ended.
  using Result = std::optional<absl::StatusOr<std::unique_ptr<Connection>>>;
  const auto result = std::make_shared<Result>();
  EventLoop& loop = harness_.loops().at(1);
  ConnectOptions options;
  options.peers_may_be_brpc = true;
  harness_.Run(loop, [&] {
    harness_.transport().Connect(loop, server_->address(), options,
                                 [result](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                                   result->emplace(std::move(connection));
                                 });
  });
  set_.Expect(harness_.Until([&] { return result->has_value(); }), "connecting does not end");
  if (result->has_value() && (*result)->ok()) {
    harness_.Run(
        loop, [&] { client_ = std::make_unique<RawPeer>(harness_, loop, **std::move(*result)); });
  }
  set_.Expect(client_ != nullptr || set_.faulty, "it does not connect");
  return client_ != nullptr;
}

void BrpcSimServer::Call() {
  client_->Send(set_.payload);
  const bool must_end = does_ == Does::kByte || does_ == Does::kLeave;
  const bool may_end = must_end || set_.faulty || does_ == Does::kDecisionDie;
  const auto back = [this] { return client_->received == set_.payload; };
  const bool done = harness_.Until([&] { return client_->closed || (!must_end && back()); });
  set_.Expect(done || set_.faulty, must_end ? "it does not end" : "not all comes back");
  set_.Expect(may_end || !client_->closed, "it ends");
  set_.Expect(set_.payload.substr(0, client_->received.size()) == client_->received,
              "other bytes come back");
}

std::vector<std::string> BrpcSimServer::Openings() {
  std::vector<std::string> openings;
  for (const Visit& visit : visits_) openings.push_back(visit.opening);
  return openings;
}

}  // namespace farcall
