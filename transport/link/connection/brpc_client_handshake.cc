// SPDX-License-Identifier: Apache-2.0
//
// brpc's RDMA handshake at the client. It avoids what some servers do not bear: nothing is sent
// behind the hello, a connection that was refused carries no request, and nothing is sent by RDMA
// before the decision has reached the server's host.

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/brpc/client_machine.h"
#include "transport/link/connection/handshake.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class BrpcClientHandshake final : public Handshake {
 public:
  BrpcClientHandshake(Parts parts, const ConnectionOptions& options)
      : Handshake(std::move(parts)), look_([this] { LookWhetherCame(); }) {
    BrpcWish wish;
    wish.connection = options;
    wish.local = parts_.tcp.info().local;
    StartTimer(parts_.settings->options.upgrade.answer);
    pair_ = parts_.settings->rdma->MakeForBrpc(
        parts_.loop, wish, [this](const absl::StatusOr<BrpcEnd>& made) { OnMade(made); });
  }
  ~BrpcClientHandshake() override { parts_.loop.CancelTimer(look_); }

  size_t OnRead(Buffer& input) override;
  void OnClosed() override {
    Fail(NotRdma(WhyNotRdma::kPeerSilent, "it closed the connection at brpc's RDMA hello"));
  }

 private:
  using State = BrpcClientMachine::State;

  void OnMade(const absl::StatusOr<BrpcEnd>& made);
  void Join();
  void LookWhetherCame();
  void Open();
  void OnTime() override;
  void Fail(absl::Status why) { Done({.kind = Handshaken::Kind::kNoHello, .why = std::move(why)}); }

  // What a server reads of the decision's packet it reads a little later.
  static constexpr Duration kLookEvery = std::chrono::milliseconds(1);

  BrpcClientMachine machine_{BrpcVersion::kSecond};
  std::unique_ptr<BrpcPair> pair_;
  bool came_ = false;  // the decision is with the server's host
  Timer look_;
};

// Without a queue pair nothing is said, and the connection is as any other.
void BrpcClientHandshake::OnMade(const absl::StatusOr<BrpcEnd>& made) {
  if (over()) return;
  if (made.ok()) {
    Say(machine_.Ask(*made));
    const LinkOptions& options = parts_.settings->options;
    return StartTimer(std::max(options.hello_timeout, options.busy_hello_timeout));
  }
  Done({.why = made.status()});
}

size_t BrpcClientHandshake::OnRead(Buffer& input) {
  if (over()) return 0;
  const State before = machine_.state();
  const size_t size = input.size();
  const absl::StatusOr<size_t> need = machine_.OnRead(input);
  read_ += size - input.size();
  const bool decided = machine_.state() == State::kRdma;
  if (!need.ok() || (decided && !input.empty())) {
    Fail(NotRdma(WhyNotRdma::kPeerSilent,
                 need.ok() ? "it speaks on TCP behind its RDMA hello" : need.status().message()));
    return 0;
  }
  if (machine_.state() == before) return *need;
  if (machine_.state() == State::kAnswered) {
    Join();
  } else {
    Fail(NotRdma(WhyNotRdma::kPeerHasNone, machine_.hello().usable.message()));
  }
  return 0;
}

void BrpcClientHandshake::Join() {
  StartTimer(parts_.settings->options.upgrade.dial);
  pair_->Join(machine_.hello().end, [this](const absl::Status& joined) {
    if (over()) return;
    if (!joined.ok()) return Fail(joined);
    Say(machine_.Decide(true));
    LookWhetherCame();
  });
}

void BrpcClientHandshake::LookWhetherCame() {
  if (over()) return;
  if (came_) return Open();
  came_ = parts_.tcp.backlog() == 0 && parts_.tcp.unacknowledged() == 0;
  parts_.loop.SetTimer(look_, parts_.loop.now() + kLookEvery);
}

void BrpcClientHandshake::Open() {
  pair_->Open([this](absl::StatusOr<std::unique_ptr<Connection>> opened) {
    if (over()) return;
    if (!opened.ok()) return Fail(opened.status());
    Done({.kind = Handshaken::Kind::kBrpc, .rdma = *std::move(opened), .pair = std::move(pair_)});
  });
}

void BrpcClientHandshake::OnTime() {
  Fail(NotRdma(WhyNotRdma::kTimedOut, machine_.state() == State::kAsked
                                          ? "no answer to brpc's RDMA hello"
                                          : "setting up a queue pair with brpc"));
}

}  // namespace

std::unique_ptr<Handshake> NewBrpcClientHandshake(Handshake::Parts parts,
                                                  const ConnectionOptions& options) {
  return std::make_unique<BrpcClientHandshake>(std::move(parts), options);
}

}  // namespace farcall
