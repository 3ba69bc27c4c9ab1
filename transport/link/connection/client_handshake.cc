// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "transport/link/connection/handshake.h"
#include "transport/link/hello/hello.h"
#include "transport/link/upgrade/reason.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class ClientHandshake final : public Handshake {
 public:
  ClientHandshake(Parts parts, Duration timeout)
      : parts_(std::move(parts)), timer_([this] { On(ClientHelloEvent::kTimedOut); }) {
    const StreamLimits& stream = parts_.settings->options.stream;
    const auto window = static_cast<uint32_t>(stream.receive_window);
    std::string hello = EncodeHello(MakeHello(window, stream.rails));
    written_ = hello.size();
    parts_.tcp.Write(Buffer(hello));
    parts_.loop.SetTimer(timer_, parts_.loop.now() + timeout);
  }
  ~ClientHandshake() override { parts_.loop.CancelTimer(timer_); }

  size_t OnRead(Buffer& input) override {
    if (state_ != ClientHello::kAsking) return 0;
    link::HelloAnswer answer;
    const size_t before = input.size();
    switch (CutAnswer(input, answer)) {
      case HelloCut::kMore:
        return 0;
      case HelloCut::kWhole:
        read_ = before - input.size();
        OnAnswer(answer);
        break;
      case HelloCut::kOther:
      case HelloCut::kBroken:
        On(ClientHelloEvent::kOtherBytes);
        break;
    }
    return 0;
  }
  void OnClosed() override { On(ClientHelloEvent::kClosed); }
  void OnWaiting() override {}
  size_t bytes_read() const override { return read_; }
  size_t bytes_written() const override { return written_; }

 private:
  void OnAnswer(const link::HelloAnswer& answer) {
    if (answer.why() == 0 && answer.window() < kMinPeerWindow) {
      return On(ClientHelloEvent::kOtherBytes);
    }
    if (answer.why() == 0) {
      result_.peer_window = answer.window();
      result_.rails = AgreedRails(parts_.settings->options.stream.rails, answer.rails());
      return On(ClientHelloEvent::kAccepted);
    }
    result_.why = ReasonOfPeer(answer.why(), answer.text());
    On(ClientHelloEvent::kDeclined);
  }

  void On(ClientHelloEvent event) {
    if (state_ != ClientHello::kAsking) return;
    state_ = Next(state_, event);
    parts_.loop.CancelTimer(timer_);
    switch (state_) {
      case ClientHello::kAsking:
        return;
      case ClientHello::kLinked:
        result_.kind = Handshaken::Kind::kLinked;
        break;
      case ClientHello::kPlain:
        result_.kind = Handshaken::Kind::kPlain;
        break;
      case ClientHello::kSilentPeer:
        result_.kind = Handshaken::Kind::kSilent;
        break;
      case ClientHello::kNoHello:
        result_.kind = Handshaken::Kind::kNoHello;
        break;
    }
    parts_.user.OnHandshaken(std::move(result_));
  }

  const Parts parts_;
  ClientHello state_ = ClientHello::kAsking;
  Handshaken result_;
  size_t read_ = 0;
  size_t written_ = 0;
  Timer timer_;
};

}  // namespace

std::unique_ptr<Handshake> NewClientHandshake(Handshake::Parts parts, Duration timeout) {
  return std::make_unique<ClientHandshake>(std::move(parts), timeout);
}

}  // namespace farcall
