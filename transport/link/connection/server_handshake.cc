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

class ServerHandshake final : public Handshake {
 public:
  ServerHandshake(Parts parts, absl::Status unwanted)
      : parts_(std::move(parts)), unwanted_(std::move(unwanted)), timer_([this] { OnTime(); }) {}
  ~ServerHandshake() override { parts_.loop.CancelTimer(timer_); }

  size_t OnRead(Buffer& input) override;
  void OnClosed() override {
    state_ = ServerHello::kClosed;
    parts_.loop.CancelTimer(timer_);
  }
  void OnWaiting() override { StartTimer(); }
  size_t bytes_read() const override { return read_; }
  size_t bytes_written() const override { return written_; }

 private:
  bool MeetBrpc(const Buffer& input);
  void On(ServerHelloEvent event);
  void OnTime();
  void Probe();
  void OnAvailable(const absl::Status& available);
  void Answer(const absl::Status& available);
  bool BeginsAsCounted(const Buffer& input) const;
  // The client's choice.
  uint32_t rails() const { return AgreedRails(hello_.rails(), kMaxRails); }
  void Done(Handshaken::Kind kind, absl::Status why, bool missed = true);
  void StartTimer() {
    const Duration timeout = parts_.settings->options.sniff_timeout;
    if (!timer_.pending()) parts_.loop.SetTimer(timer_, parts_.loop.now() + timeout);
  }

  // Well below UpgradeOptions::hello_timeout, after which the client takes this end for one that
  // knows no hello.
  static constexpr Duration kAnswerWithin = std::chrono::milliseconds(100);

  const Parts parts_;
  const absl::Status unwanted_;
  ServerHello state_ = ServerHello::kSilent;
  link::Hello hello_;
  absl::Status available_ = NotRdma(WhyNotRdma::kTimedOut, "looking for RDMA devices");
  bool counted_ = false;  // it has begun as those that could have said hello
  size_t read_ = 0;
  size_t written_ = 0;
  Timer timer_;
  // Destroyed with this: Probe's answer is dropped then.
  const std::shared_ptr<ServerHandshake*> alive_ = std::make_shared<ServerHandshake*>(this);
};

size_t ServerHandshake::OnRead(Buffer& input) {
  if (state_ != ServerHello::kSilent && state_ != ServerHello::kBegun) return 0;
  if (MeetBrpc(input)) return 0;
  const size_t before = input.size();
  switch (CutHello(input, hello_)) {
    case HelloCut::kMore:
      On(ServerHelloEvent::kPart);
      break;
    case HelloCut::kWhole:
      read_ = before - input.size();
      On(ServerHelloEvent::kHello);
      break;
    case HelloCut::kOther:
      counted_ = BeginsAsCounted(input);
      On(ServerHelloEvent::kOtherBytes);
      break;
    case HelloCut::kBroken:
      On(ServerHelloEvent::kBroken);
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
    On(ServerHelloEvent::kPart);
    return true;
  }
  state_ = Next(state_, ServerHelloEvent::kOtherBytes);
  Done(Handshaken::Kind::kBrpcHello, absl::OkStatus());
  return true;
}

void ServerHandshake::On(ServerHelloEvent event) {
  const ServerHello before = std::exchange(state_, Next(state_, event));
  if (state_ == before) return;
  switch (state_) {
    case ServerHello::kSilent:
      return;
    case ServerHello::kBegun:
      parts_.loop.CancelTimer(timer_);
      return StartTimer();
    case ServerHello::kAnswering:
      return Probe();
    case ServerHello::kLinked:
      Answer(absl::OkStatus());
      return Done(Handshaken::Kind::kLinked, absl::OkStatus());
    case ServerHello::kPlain:
      if (before == ServerHello::kAnswering) {
        Answer(available_);
        return Done(Handshaken::Kind::kPlain, available_);
      }
      return Done(Handshaken::Kind::kPlain,
                  unwanted_.ok() ? NotRdma(WhyNotRdma::kPeerSilent, "it sent no hello") : unwanted_,
                  counted_);
    case ServerHello::kClosed:
      return Done(
          Handshaken::Kind::kClosed,
          absl::InvalidArgumentError(absl::StrCat(
              event == ServerHelloEvent::kBroken ? "malformed hello from " : "half a hello from ",
              parts_.tcp.info().peer.ToString())));
  }
}

// Half of a hello that does not go on; or devices that take longer to look at than the client
// waits for its answer. It may ask for the upgrade meanwhile, and is answered then.
void ServerHandshake::OnTime() {
  if (state_ == ServerHello::kAnswering) return OnAvailable(absl::OkStatus());
  On(ServerHelloEvent::kTimedOut);
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
  parts_.loop.SetTimer(timer_, parts_.loop.now() + kAnswerWithin);
  // Nothing should follow the hello before its answer; what does waits for it.
  parts_.tcp.PauseRead();
  parts_.settings->rdma->Probe(
      parts_.loop, [alive = std::weak_ptr<ServerHandshake*>(alive_)](const absl::Status& status) {
        const auto self = alive.lock();
        if (self == nullptr) return;
        ServerHandshake& handshake = **self;
        if (handshake.state_ != ServerHello::kAnswering) return;
        handshake.OnAvailable(status);
      });
}

void ServerHandshake::OnAvailable(const absl::Status& available) {
  available_ = available;
  On(available.ok() ? ServerHelloEvent::kAccept : ServerHelloEvent::kDecline);
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
  const std::string bytes = EncodeAnswer(answer);
  written_ = bytes.size();
  parts_.tcp.Write(Buffer(bytes));
}

bool ServerHandshake::BeginsAsCounted(const Buffer& input) const {
  const std::string& opening = parts_.settings->options.counted_opening;
  if (input.size() < opening.size()) return false;
  std::string scratch(opening.size(), '\0');
  return input.Front(opening.size(), scratch.data()) == opening;
}

void ServerHandshake::Done(Handshaken::Kind kind, absl::Status why, bool missed) {
  parts_.loop.CancelTimer(timer_);
  parts_.tcp.ResumeRead();
  Handshaken result;
  result.kind = kind;
  result.peer_window = hello_.window();
  result.rails = rails();
  result.why = std::move(why);
  result.missed = missed;
  parts_.user.OnHandshaken(std::move(result));
}

}  // namespace

std::unique_ptr<Handshake> NewServerHandshake(Handshake::Parts parts, absl::Status unwanted) {
  return std::make_unique<ServerHandshake>(std::move(parts), std::move(unwanted));
}

}  // namespace farcall
