// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/server_upgrader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/link/upgrade/upgrade_messages.h"
#include "transport/why_not_rdma.h"

namespace farcall {

ServerUpgrader::ServerUpgrader(Parts parts)
    : Upgrader(std::move(parts)),
      machine_(parts_.rails),
      ask_limit_(parts_.settings->options.upgrade.first_pause, parts_.loop.now(), parts_.rails),
      why_(NotRdma(WhyNotRdma::kPending, "")) {}

absl::Status ServerUpgrader::OnFrame(const LinkFrame& frame) {
  // Not from a callback of theirs: asks in a row hold only one.
  EndTurn();
  if (frame.type == LinkFrameType::kUpgradeSetUp) return OnSetUp(frame, machine_.generation());
  if (frame.type != LinkFrameType::kUpgradeAsk) {
    return absl::InvalidArgumentError("a client makes no offers");
  }
  if (absl::Status paced = ask_limit_.OnAsk(parts_.loop.now()); !paced.ok()) return paced;
  const auto ask = ParseAsk(frame.payload.ToString());
  if (!ask.ok()) return ask.status();
  const uint32_t last = machine_.generation();
  const bool has_one = parts_.rails == 1 && parts_.stream.Alive(last);
  if (absl::Status expected = parts_.stream.Expect(ask->generation); !expected.ok()) {
    return expected;
  }
  // Each may be a queue pair. A client's RESUME is on the lifeline before its next ask.
  if (has_one) {
    return absl::InvalidArgumentError(absl::StrCat("the peer asks for generation ", ask->generation,
                                                   " and has not given up ", last));
  }
  if (!parts_.stream.Alive(ask->generation)) return absl::OkStatus();
  if (!machine_.busy()) {
    Take(*ask);
    return absl::OkStatus();
  }
  if (next_ask_) {
    return absl::InvalidArgumentError(absl::StrCat("the peer asks for generation ", ask->generation,
                                                   " while ", machine_.generation(), " and ",
                                                   next_ask_->generation, " are under way"));
  }
  next_ask_ = *ask;
  return absl::OkStatus();
}

void ServerUpgrader::Take(const AskMessage& ask) {
  if (!machine_.OnAsk(ask.generation)) {
    return Decline(ask.generation, NotRdma(WhyNotRdma::kCapacity, "the connection is closing"));
  }
  why_ = ask.why;
  changed_ = false;
  // Before the client has waited in vain.
  answer_by_ = parts_.loop.now() + parts_.settings->options.upgrade.answer / 2;
  // One guess for each connection.
  if (!may_upgrade() && ask.generation == 1 && !ask.credential.empty()) {
    trusted_ = parts_.introduction.verify(ask.credential);
    if (!trusted_) Refuse(NotRdma(WhyNotRdma::kRejected, "the credential is refused"));
  }
}

void ServerUpgrader::TrustPeer() {
  trusted_ = true;
  OnCome();
}

void ServerUpgrader::OnTurn() {
  EndTurn();
  const ServerUpgradeState state = machine_.state();
  // Not before the first ask.
  WatchWhile(state != ServerUpgradeState::kReady && state != ServerUpgradeState::kEnded &&
             machine_.generation() != 0);
  NotifyChange();
  if (next_ask_ && !machine_.busy()) Take(*std::exchange(next_ask_, std::nullopt));
  if (!asked()) return;
  if (may_upgrade()) return Await(machine_.generation());
  if (parts_.loop.now() < answer_by_) return;
  Refuse(NotRdma(WhyNotRdma::kPending, "the server has accepted no credential yet"));
}

void ServerUpgrader::OnCome() {
  if (machine_.state() != ServerUpgradeState::kReady) changed_ = true;
}

// Else its next ask would come after a pause that has become long meanwhile.
void ServerUpgrader::NotifyChange() {
  if (!changed_ || machine_.state() != ServerUpgradeState::kIdle || machine_.generation() == 0)
    return;
  changed_ = false;
  parts_.stream.SendUpgrade(LinkFrameType::kUpgradeDecline, EncodeAgain(machine_.generation()));
}

std::optional<TimePoint> ServerUpgrader::next() const {
  if (!asked()) return std::nullopt;
  return answer_by_;
}

void ServerUpgrader::Refuse(const absl::Status& why) {
  if (!machine_.OnRefused()) return;
  DropTicket();
  why_ = why;
  Record(why_, /*others=*/machine_.rails() > 0);
  Decline(machine_.generation(), why_);
}

void ServerUpgrader::Await(uint32_t generation) {
  UpgradePass pass;
  pass.generation = generation;
  parts_.settings->random(pass.token);
  parts_.settings->random(pass.answer);
  SetTicket(parts_.settings->rdma->Await(
      parts_.loop, pass, parts_.options, trusted_ ? PeerTrust::kTrusted : PeerTrust::kUntrusted,
      SendSetUps(generation),
      [this, pass](const absl::StatusOr<std::vector<UpgradeAddress>>& offer) {
        OnOffered(pass, offer);
      },
      [this, generation](std::unique_ptr<Connection> connection) {
        OnAdmitted(generation, std::move(connection));
      }));
}

void ServerUpgrader::OnOffered(const UpgradePass& pass,
                               const absl::StatusOr<std::vector<UpgradeAddress>>& offer) {
  if (ticket_ == nullptr || pass.generation != machine_.generation()) return;
  if (offer.ok()) {
    if (!machine_.OnOffered()) return;
    parts_.stream.SendUpgrade(LinkFrameType::kUpgradeOffer,
                              EncodeOffer(pass, places_.Offer(*offer)));
  } else {
    Refuse(offer.status());
  }
  parts_.on_event();
}

void ServerUpgrader::OnAdmitted(uint32_t generation, std::unique_ptr<Connection> connection) {
  if (ticket_ == nullptr || generation != machine_.generation() || !machine_.OnAdmitted()) return;
  changed_ = false;
  DropTicket();
  if (parts_.rails == 1) {
    places_ = RailPlaces();  // the next one may be anywhere
  } else {
    places_.OnAdmitted(generation, connection->info().device);
  }
  parts_.on_upgraded(generation, std::move(connection));
  parts_.on_event();
}

void ServerUpgrader::Decline(uint32_t generation, const absl::Status& why) {
  parts_.stream.SendUpgrade(LinkFrameType::kUpgradeDecline, EncodeDecline(generation, why));
  parts_.stream.OnGenerationBroken(generation, why);
}

void ServerUpgrader::OnGivenUp(uint32_t generation, const absl::Status& why) {
  if (next_ask_ && next_ask_->generation == generation) return next_ask_.reset();
  const bool was_ready = machine_.ready(generation);
  if (generation < machine_.generation() && !was_ready) return;
  if (machine_.state() == ServerUpgradeState::kOffered && !was_ready) places_.OnUnused();
  machine_.OnLost(generation);
  if (!was_ready) DropTicket();
  // Of others the client knows better, and says with its next ask.
  if (!was_ready) return;
  places_.OnLost(generation);
  why_ = why;
  RecordWhenResumed(generation, why, /*others=*/machine_.rails() > 0);
}

void ServerUpgrader::End() {
  machine_.OnEnd();
  DropTicket();
}

}  // namespace farcall
