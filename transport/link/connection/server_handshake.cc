// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/brpc/hello.h"
#include "transport/link/connection/handshake.h"
#include "transport/link/hello/hello.h"
#include "transport/link/upgrade/reason.h"
#include "transport/link_options.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// Waits for a hello, looks for what it asks for, and answers.
class ServerHandshake final : public Handshake {
 public:
  ServerHandshake(Parts parts, absl::Status unwanted)
      : Handshake(std::move(parts)), unwanted_(std::move(unwanted)) {}

  size_t OnRead(Buffer& input) override;
  void OnClosed() override { Stop(); }
  void OnWaiting() override {
    if (!over() && !waits()) StartTimer(parts_.settings->options.sniff_timeout);
  }

 private:
  enum class State : uint8_t { kSilent, kBegun, kAnswering };

  bool MeetBrpc(const Buffer& input);
  void OnPart();
  void OnTime() override;
  void Probe();
  void OnAvailable(const absl::Status& available);
  void Answer(const absl::Status& available);
  bool BeginsAsCounted(const Buffer& input) const;
  // The client's choice.
  uint32_t rails() const { return AgreedRails(hello_.rails(), kMaxRails); }
  void BePlain();
  void Close(absl::string_view what);

  // Well below UpgradeOptions::hello_timeout, after which the client takes this end for one that
  // knows no hello.
  static constexpr Duration kAnswerWithin = std::chrono::milliseconds(100);

  const absl::Status unwanted_;
  State state_ = State::kSilent;
  link::Hello hello_;
  bool counted_ = false;  // it has begun as those that could have said hello
  // Destroyed with this: Probe's answer is dropped then.
  const std::shared_ptr<ServerHandshake*> alive_ = std::make_shared<ServerHandshake*>(this);
};

size_t ServerHandshake::OnRead(Buffer& input) {
  if (over() || state_ == State::kAnswering) return 0;
  if (MeetBrpc(input)) return 0;
  const size_t before = input.size();
  switch (CutHello(input, hello_)) {
    case HelloCut::kMore:
      OnPart();
      break;
    case HelloCut::kWhole:
      read_ = before - input.size();
      state_ = State::kAnswering;
      Probe();
      break;
    case HelloCut::kOther:
      counted_ = BeginsAsCounted(input);
      BePlain();
      break;
    case HelloCut::kBroken:
      Close("malformed hello");
      break;
  }
  return 0;
}

// Where this end has no RDMA whoever knows its protocol refuses it.
bool ServerHandshake::MeetBrpc(const Buffer& input) {
  if (!unwanted_.ok() || parts_.settings->rdma == nullptr) return false;
  char scratch[kBrpcMagic];
  const size_t bytes = std::min(input.size(), kBrpcMagic);
  if (bytes == 0 || !MayBeBrpcHello(input.Front(bytes, scratch))) return false;
  if (bytes < kBrpcMagic) {
    OnPart();
    return true;
  }
  Done({.kind = Handshaken::Kind::kBrpcHello});
  return true;
}

void ServerHandshake::OnPart() {
  if (state_ == State::kBegun) return;
  state_ = State::kBegun;
  StartTimer(parts_.settings->options.sniff_timeout);
}

// Half of a hello that does not go on; or devices that take longer to look at than the client
// waits for its answer. It may ask for the upgrade meanwhile, and is answered then.
void ServerHandshake::OnTime() {
  if (state_ == State::kAnswering) return OnAvailable(absl::OkStatus());
  state_ == State::kBegun ? Close("half a hello") : BePlain();
}

void ServerHandshake::Probe() {
  if (!unwanted_.ok()) return OnAvailable(unwanted_);
  const auto& offered = hello_.transports();
  if (std::find(offered.begin(), offered.end(), kUpgradeToRdma) == offered.end()) {
    return OnAvailable(NotRdma(WhyNotRdma::kPeerHasNone, "the hello offers no RDMA"));
  }
  if (hello_.window() < kMinPeerWindow) {
    return OnAvailable(NotRdma(WhyNotRdma::kRejected, "the hello tells no window"));
  }
  if (parts_.settings->rdma == nullptr) return OnAvailable(NotRdma(WhyNotRdma::kNotBuiltIn, ""));
  StartTimer(kAnswerWithin);
  // Nothing should follow the hello before its answer; what does waits for it.
  parts_.tcp.PauseRead();
  parts_.settings->rdma->Probe(
      parts_.loop, [alive = std::weak_ptr<ServerHandshake*>(alive_)](const absl::Status& status) {
        const auto self = alive.lock();
        if (self != nullptr && !(*self)->over()) (*self)->OnAvailable(status);
      });
}

void ServerHandshake::OnAvailable(const absl::Status& available) {
  Answer(available);
  Done({.kind = available.ok() ? Handshaken::Kind::kLinked : Handshaken::Kind::kPlain,
        .peer_window = hello_.window(),
        .rails = rails(),
        .why = available});
}

void ServerHandshake::Answer(const absl::Status& available) {
  link::HelloAnswer answer;
  answer.set_version(kLinkVersion);
  if (available.ok()) {
    answer.set_window(static_cast<uint32_t>(parts_.settings->options.stream.receive_window));
    if (rails() > 1) answer.set_rails(rails());
  } else {
    answer.set_why(static_cast<uint32_t>(ReasonOf(available)));
    answer.set_text(DetailOf(available).substr(0, kMaxReasonText));
  }
  Say(EncodeAnswer(answer));
}

bool ServerHandshake::BeginsAsCounted(const Buffer& input) const {
  const std::string& opening = parts_.settings->options.counted_opening;
  if (input.size() < opening.size()) return false;
  std::string scratch(opening.size(), '\0');
  return input.Front(opening.size(), scratch.data()) == opening;
}

void ServerHandshake::BePlain() {
  Done({.kind = Handshaken::Kind::kPlain,
        .why = unwanted_.ok() ? NotRdma(WhyNotRdma::kPeerSilent, "it sent no hello") : unwanted_,
        .missed = counted_});
}

void ServerHandshake::Close(absl::string_view what) {
  Done({.kind = Handshaken::Kind::kClosed,
        .why = absl::InvalidArgumentError(
            absl::StrCat(what, " from ", parts_.tcp.info().peer.ToString()))});
}

}  // namespace

std::unique_ptr<Handshake> NewServerHandshake(Handshake::Parts parts, absl::Status unwanted) {
  return std::make_unique<ServerHandshake>(std::move(parts), std::move(unwanted));
}

}  // namespace farcall
