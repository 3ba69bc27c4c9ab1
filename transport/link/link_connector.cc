// SPDX-License-Identifier: Apache-2.0

#include "transport/link/link_connector.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/why_not_rdma.h"

namespace farcall {

void LinkConnector::Start(EventLoop& loop, Transport& tcp,
                          std::shared_ptr<const LinkSettings> settings, const Address& peer,
                          const ConnectOptions& options, Transport::OnConnect done) {
  const std::shared_ptr<LinkConnector> connector(
      new LinkConnector(loop, tcp, std::move(settings), peer, options, std::move(done)));
  connector->Begin(connector);
}

LinkConnector::LinkConnector(EventLoop& loop, Transport& tcp,
                             std::shared_ptr<const LinkSettings> settings, const Address& peer,
                             const ConnectOptions& options, Transport::OnConnect done)
    : loop_(loop),
      tcp_(tcp),
      settings_(std::move(settings)),
      peer_(peer),
      options_(options),
      done_(std::move(done)),
      timer_([this] { OnTime(); }) {}

void LinkConnector::Begin(const std::shared_ptr<LinkConnector>& self) {
  self_ = self;
  if (settings_->rdma == nullptr) return OnProbed(NotRdma(WhyNotRdma::kNotBuiltIn, ""));
  if (peer_.family() == AddressFamily::kUnix) {
    return OnProbed(NotRdma(WhyNotRdma::kNotForThisAddress, "a unix socket"));
  }
  // No call waits for what replaces another connection.
  patient_ = options_.instead_of && settings_->record->MayAnswer(peer_.ToString());
  loop_.SetTimer(timer_, loop_.now() + settings_->options.probe_timeout);
  settings_->rdma->Probe(loop_, [weak = std::weak_ptr(self)](const absl::Status& available) {
    if (const auto alive = weak.lock()) alive->OnProbed(available);
  });
}

void LinkConnector::OnProbed(const absl::Status& available) {
  if (self_ == nullptr || std::exchange(probed_, true)) return;
  loop_.CancelTimer(timer_);
  plain_ = available;
  // A server that is known as silent is not asked in vain before plain TCP, or brpc's hello, is
  // used. Where neither may be used it is asked each time.
  const bool has_other_way = !requires_rdma() || TriesBrpc();
  const bool silent =
      options_.instead_of == WhyNotRdma::kPeerSilent ||
      (has_other_way && settings_->record->KnownSilent(peer_.ToString(), loop_.now()));
  // What this host lacks comes first: it can be cured here.
  if (plain_.ok() && silent && !patient_) {
    plain_ = NotRdma(WhyNotRdma::kPeerSilent, "it did not answer the hello of one before");
  }
  brpc_ = ReasonOf(plain_) == WhyNotRdma::kPeerSilent && TriesBrpc();
  if (!plain_.ok() && !brpc_ && !may_be_plain()) return Finish(plain_);
  ConnectTcp();
}

// Whoever knows no hello of ours, and has not shown that it takes none of brpc either.
bool LinkConnector::TriesBrpc() const {
  const std::string peer = peer_.ToString();
  return options_.peers_may_be_brpc && options_.tls == nullptr &&
         settings_->record->KnownNoHello(peer) &&
         !settings_->record->KnownNoBrpc(peer, loop_.now());
}

void LinkConnector::ConnectTcp() {
  tcp_.Connect(loop_, peer_, options_,
               [self = self_](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                 self->OnConnected(std::move(connection));
               });
}

void LinkConnector::OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection) {
  if (!connection.ok()) return Finish(connection.status());
  LinkConnection::Parts parts{loop_,
                              *std::move(connection),
                              settings_,
                              options_.connection,
                              {options_.credential, nullptr}};
  if (brpc_) {
    connection_ = LinkConnection::SayBrpcHello(
        std::move(parts), [this](Handshaken::Kind kind) { OnBrpcHello(kind); });
    return;
  }
  if (!plain_.ok()) return Finish(LinkConnection::Plain(std::move(parts), plain_));
  const UpgradeOptions& options = settings_->options;
  if (!options_.instead_of) patient_ = settings_->record->KnownAnswering(peer_.ToString());
  const Duration timeout = patient_ ? std::max(options.hello_timeout, options.busy_hello_timeout)
                                    : options.hello_timeout;
  connection_ = LinkConnection::SayHello(std::move(parts), timeout,
                                         [this](Handshaken::Kind kind) { OnHello(kind); });
}

void LinkConnector::OnHello(Handshaken::Kind kind) {
  UpgradeRecord& record = *settings_->record;
  const std::string peer = peer_.ToString();
  switch (kind) {
    case Handshaken::Kind::kLinked:
      record.RememberAnswering(peer);
      if (!requires_rdma()) return Finish(std::move(connection_));
      loop_.SetTimer(timer_, loop_.now() + options_.timeout);
      return connection_->WhenUpgraded([this](const absl::Status& why) { OnUpgrade(why); });
    case Handshaken::Kind::kPlain:
      record.RememberAnswering(peer);
      if (!may_be_plain()) return Finish(connection_->why_not_rdma());
      return Finish(std::move(connection_));
    case Handshaken::Kind::kNoHello:
      record.RememberNoHello(peer);
      break;
    case Handshaken::Kind::kSilent:
    case Handshaken::Kind::kClosed:
    case Handshaken::Kind::kBrpcHello:
    case Handshaken::Kind::kBrpc:
      break;
  }
  connection_.reset();
  // One that has answered others meanwhile is asked once more, with more time.
  const bool silent = kind == Handshaken::Kind::kSilent;
  if (silent && !patient_ && record.KnownAnswering(peer)) {
    patient_ = true;
    return ConnectTcp();
  }
  record.ForgetAnswering(peer);
  // A server that answers, but not now, may answer the next one.
  const TimePoint now = loop_.now();
  if (!patient_ || record.KnownNoHello(peer)) {
    record.RememberSilent(peer, now, now + settings_->options.silent_peer_memory);
  }
  plain_ = NotRdma(WhyNotRdma::kPeerSilent, "it did not answer the hello");
  brpc_ = kind == Handshaken::Kind::kNoHello && TriesBrpc();
  if (!brpc_ && !may_be_plain()) return Finish(plain_);
  ConnectTcp();
}

// Where it was refused too the connection is not used any more: some brpc servers drop one whose
// first request comes right behind the decision for TCP.
void LinkConnector::OnBrpcHello(Handshaken::Kind kind) {
  plain_ = connection_->why_not_rdma();
  const bool spoilt = kind != Handshaken::Kind::kBrpc && kind != Handshaken::Kind::kPlain;
  if (!spoilt && (plain_.ok() || may_be_plain())) return Finish(std::move(connection_));
  connection_.reset();
  brpc_ = false;
  if (spoilt) {
    const TimePoint now = loop_.now();
    settings_->record->RememberNoBrpc(peer_.ToString(), now,
                                      now + settings_->options.silent_peer_memory);
  }
  if (!may_be_plain()) return Finish(plain_);
  ConnectTcp();
}

void LinkConnector::OnUpgrade(const absl::Status& why) {
  if (!why.ok()) return Finish(why);
  Finish(std::move(connection_));
}

void LinkConnector::OnTime() {
  if (!probed_) {
    return OnProbed(NotRdma(WhyNotRdma::kTimedOut, "looking for RDMA devices takes too long"));
  }
  Finish(NotRdma(WhyNotRdma::kTimedOut, ""));
}

// From the mailbox: it is not known here whose callback this is in.
void LinkConnector::Finish(absl::StatusOr<std::unique_ptr<Connection>> result) {
  if (self_ == nullptr) return;
  loop_.CancelTimer(timer_);
  const std::string peer = peer_.ToString();
  if (!result.ok() && !absl::StrContains(result.status().message(), peer)) {
    result = Annotate(result.status(), absl::StrCat("cannot connect to ", peer));
  }
  loop_.Post([self = std::move(self_), result = std::move(result)]() mutable {
    self->connection_.reset();
    self->done_(std::move(result));
  });
}

}  // namespace farcall
