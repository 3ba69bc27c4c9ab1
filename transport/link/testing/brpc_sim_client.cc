// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/brpc_sim_client.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace farcall {

std::string BrpcSimClient::Run() {
  end_ = set_.random.Chance(0.5) ? static_cast<Step>(set_.random.Below(8)) : Step::kNever;
  silent_ = set_.random.Chance(0.3);
  harness_.fabric().brpc.hasty_clients = true;
  server_ = std::make_unique<RawServer>(harness_, harness_.transport(), [this](RawPeer& peer) {
    peer.on_read = [this](RawPeer& self) {
      set_.Expect(decided_, "the server hands on what came before the decision");
      self.Send(std::exchange(self.received, ""));
    };
  });
  tcp_ = RawPeer::Connect(harness_, harness_.tcp(), server_->address());
  if (Lives(Step::kConnect) && MakePair() && SayHello() && HearAnswer()) {
    const bool usable = answer_.usable.ok();
    if (usable && set_.random.Chance(0.8) && Join()) {
      if (Open()) SendAndHearBack(*rdma_);
      Breach();
    } else if (StayOnTcp()) {
      SendAndHearBack(*tcp_);
      const bool alone = harness_.Until([this] { return harness_.fabric().brpc.size() == 1; });
      set_.Expect(alone || set_.faulty, "a queue pair is kept for a client that stays on TCP");
    }
  }
  End();
  return set_.Finish();
}

// A callback may come after the wait for it has ended, as long as there is a pair_.
bool BrpcSimClient::MakePair() {
  const auto called = std::make_shared<bool>(false);
  harness_.Run(tcp_->loop(), [&] {
    pair_ = harness_.client_rdma().MakeForBrpc(tcp_->loop(), {},
                                               [this, called](const absl::StatusOr<BrpcEnd>& made) {
                                                 *called = true;
                                                 if (made.ok()) own_ = *made;
                                               });
  });
  return harness_.Until([&] { return *called; }) && own_.has_value();
}

bool BrpcSimClient::SayHello() {
  const auto version = set_.random.Chance(0.5) ? BrpcVersion::kSecond : BrpcVersion::kThird;
  if (set_.random.Chance(0.1)) own_->block_bytes = 1000;
  const std::string hello = EncodeBrpcHello(version, *own_);
  const size_t cut = 1 + set_.random.Below(hello.size() - 1);
  tcp_->Send(hello.substr(0, cut));
  if (!Lives(Step::kHalf)) return false;
  if (set_.random.Chance(0.5)) harness_.Settle();
  tcp_->Send(hello.substr(cut));
  return Lives(Step::kHello);
}

bool BrpcSimClient::HearAnswer() {
  const bool whole = Until([&] {
    Buffer input(tcp_->received);
    const absl::StatusOr<size_t> need = CutBrpcHello(input, answer_);
    if (!need.ok() || *need != 0) return false;
    set_.Expect(input.empty(), "the server speaks behind its hello");
    tcp_->received.clear();
    return true;
  });
  set_.Expect(whole || set_.faulty, "the hello gets no answer");
  const bool bad = own_->block_bytes == 1000;
  set_.Expect(!whole || !bad || !answer_.usable.ok(), "a bad hello is accepted");
  return whole && Lives(Step::kAnswer);
}

bool BrpcSimClient::Join() {
  const auto joined = std::make_shared<std::optional<absl::Status>>();
  harness_.Run(tcp_->loop(), [&] {
    pair_->Join(answer_.end, [joined](const absl::Status& status) { *joined = status; });
  });
  return Until([&] { return joined->has_value(); }) && (*joined)->ok();
}

// What it sends by RDMA may come before the decision, which goes another way.
bool BrpcSimClient::Open() {
  const auto called = std::make_shared<bool>(false);
  harness_.Run(tcp_->loop(), [&] {
    pair_->Open([this, called](absl::StatusOr<std::unique_ptr<Connection>> opened) {
      *called = true;
      if (!opened.ok()) return;
      rdma_ = std::make_unique<RawPeer>(harness_, tcp_->loop(), *std::move(opened));
    });
  });
  if (!Until([&] { return *called; }) || rdma_ == nullptr) return false;
  if (set_.random.Chance(0.5)) {
    rdma_->Send("PRPC");
    if (set_.random.Chance(0.5)) harness_.Settle();
    if (!Lives(Step::kEarly)) return false;
    set_.Expect(rdma_->received.empty(), "the server sends before the decision");
  }
  decided_ = true;
  tcp_->Send(EncodeBrpcDecision(true));
  return Lives(Step::kDecision);
}

bool BrpcSimClient::StayOnTcp() {
  decided_ = true;
  tcp_->Send(EncodeBrpcDecision(false));
  return Lives(Step::kDecision);
}

void BrpcSimClient::SendAndHearBack(RawPeer& peer) {
  peer.Send(set_.payload);
  if (!Lives(Step::kOpen)) return;
  const bool back = Until([&] {
    const size_t bytes = std::min(peer.received.size(), set_.payload.size());
    return bytes == set_.payload.size() &&
           peer.received.substr(peer.received.size() - bytes) == set_.payload;
  });
  set_.Expect(back || set_.faulty, "not all comes back");
}

// TCP carries nothing beside RDMA.
void BrpcSimClient::Breach() {
  if (set_.faulty || rdma_ == nullptr || !Lives(Step::kOpen) || set_.random.Chance(0.8)) return;
  if (!decided_) return;
  tcp_->Send("P");
  const bool ended = Until([&] { return tcp_->closed.has_value(); });
  set_.Expect(ended, "a byte on TCP is no breach");
}

bool BrpcSimClient::Until(const std::function<bool()>& done) {
  bool held = false;
  harness_.Until([&] {
    held = done();
    return held || tcp_->closed || (rdma_ != nullptr && rdma_->closed);
  });
  return held;
}

void BrpcSimClient::End() {
  const bool handshake = end_ == Step::kHalf || end_ == Step::kHello || end_ == Step::kAnswer;
  if (!silent_ || !handshake) tcp_->Close(CloseMode::kAbort);
  if (set_.random.Chance(0.5)) {
    harness_.Run(tcp_->loop(), [this] { pair_.reset(); });
    rdma_.reset();
  }
  const bool all = harness_.Until([this] {
    return std::all_of(server_->peers.begin(), server_->peers.end(),
                       [](const auto& peer) { return peer->closed.has_value(); });
  });
  set_.Expect(all || set_.faulty, "the server's connection goes on");
  harness_.Run(tcp_->loop(), [this] { pair_.reset(); });
  rdma_.reset();
  server_->peers.clear();
  tcp_.reset();
  server_.reset();
}

}  // namespace farcall
