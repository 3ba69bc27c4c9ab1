// SPDX-License-Identifier: Apache-2.0
//
// brpc's RDMA handshake at the server, on a connection that begins with its hello.

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/brpc/server_machine.h"
#include "transport/link/connection/handshake.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class BrpcServerHandshake final : public Handshake {
 public:
  BrpcServerHandshake(Parts parts, const ConnectionOptions& options, bool allow_untrusted)
      : Handshake(std::move(parts)), options_(options), allow_untrusted_(allow_untrusted) {
    StartTimer(parts_.settings->options.sniff_timeout);
  }

  size_t OnRead(Buffer& input) override;
  void OnClosed() override {
    Stop();
    pair_.reset();
  }

 private:
  using State = BrpcServerMachine::State;

  absl::Status WhyNot() const;
  void Answer();
  void OnMade(const absl::StatusOr<BrpcEnd>& made);
  void Refuse(const absl::Status& why);
  void SayAnswer(const std::string& bytes);
  void Open();
  void OnTime() override;

  const ConnectionOptions options_;
  const bool allow_untrusted_;
  BrpcServerMachine machine_;
  std::unique_ptr<BrpcPair> pair_;
  absl::Status why_;  // why it was refused
  bool opening_ = false;
};

size_t BrpcServerHandshake::OnRead(Buffer& input) {
  if (over() || opening_ || (machine_.state() == State::kAnswer && pair_ != nullptr)) return 0;
  const size_t before = input.size();
  const absl::StatusOr<size_t> need = machine_.OnRead(input);
  read_ += before - input.size();
  if (!need.ok()) {
    Done({.kind = Handshaken::Kind::kClosed, .why = need.status()});
    return 0;
  }
  if (machine_.state() == State::kAnswer) {
    Answer();
    // A refusal is there at once, and the decision may be, too.
    return over() || machine_.state() == State::kAnswer ? 0 : OnRead(input);
  }
  if (machine_.state() == State::kPlain) {
    // With its receives, that others can have now.
    pair_.reset();
    Done({.kind = Handshaken::Kind::kPlain,
          .why = why_.ok() ? NotRdma(WhyNotRdma::kRejected, "the brpc client decided for TCP")
                           : why_});
  } else if (machine_.state() == State::kRdma) {
    Open();
  }
  return *need;
}

// What speaks against RDMA, but for what only a device tells.
absl::Status BrpcServerHandshake::WhyNot() const {
  if (!machine_.hello().usable.ok()) {
    return NotRdma(WhyNotRdma::kRejected, machine_.hello().usable.message());
  }
  if (!parts_.tcp.info().tls.empty()) {
    return NotRdma(WhyNotRdma::kTls, "a brpc client's queue pair carries no TLS");
  }
  if (!allow_untrusted_) {
    return NotRdma(WhyNotRdma::kRejected,
                   "a credential is wanted, which comes with the first request of a brpc client");
  }
  return absl::OkStatus();
}

void BrpcServerHandshake::Answer() {
  const absl::Status why_not = WhyNot();
  if (!why_not.ok()) return Refuse(why_not);
  StartTimer(parts_.settings->options.upgrade.answer);
  // Nothing should follow the hello before its answer; what does waits for it.
  parts_.tcp.PauseRead();
  BrpcWish wish;
  wish.connection = options_;
  wish.peer = machine_.hello().end;
  wish.local = parts_.tcp.info().local;
  pair_ = parts_.settings->rdma->MakeForBrpc(
      parts_.loop, wish, [this](const absl::StatusOr<BrpcEnd>& made) { OnMade(made); });
}

// From its callback, in which it must not die.
void BrpcServerHandshake::OnMade(const absl::StatusOr<BrpcEnd>& made) {
  if (made.ok()) {
    SayAnswer(machine_.Accept(*made));
  } else {
    Refuse(made.status());
  }
  parts_.tcp.ResumeRead();
}

void BrpcServerHandshake::Refuse(const absl::Status& why) {
  why_ = why;
  SayAnswer(machine_.Refuse(BrpcRefusal::kFellBack));
}

// The decision follows, when the client has made its queue pair ready.
void BrpcServerHandshake::SayAnswer(const std::string& bytes) {
  Say(bytes);
  StartTimer(parts_.settings->options.upgrade.dial);
}

void BrpcServerHandshake::Open() {
  opening_ = true;
  StartTimer(parts_.settings->options.upgrade.dial);
  parts_.tcp.PauseRead();
  pair_->Open([this](absl::StatusOr<std::unique_ptr<Connection>> opened) {
    if (!opened.ok()) return Done({.kind = Handshaken::Kind::kClosed, .why = opened.status()});
    Done({.kind = Handshaken::Kind::kBrpc, .rdma = *std::move(opened), .pair = std::move(pair_)});
  });
}

// Half of a hello or no decision, which the client owes; or devices that take too long.
void BrpcServerHandshake::OnTime() {
  if (machine_.state() == State::kAnswer) {
    pair_.reset();
    Refuse(NotRdma(WhyNotRdma::kTimedOut, "making a queue pair for a brpc client"));
    return parts_.tcp.ResumeRead();
  }
  Done({.kind = Handshaken::Kind::kClosed,
        .why = absl::InvalidArgumentError(
            absl::StrCat("half a handshake of brpc from ", parts_.tcp.info().peer.ToString()))});
}

}  // namespace

std::unique_ptr<Handshake> NewBrpcServerHandshake(Handshake::Parts parts,
                                                  const ConnectionOptions& options,
                                                  bool allow_untrusted) {
  return std::make_unique<BrpcServerHandshake>(std::move(parts), options, allow_untrusted);
}

}  // namespace farcall
