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
  ClientHandshake(Parts parts, Duration timeout) : Handshake(std::move(parts)) {
    const StreamLimits& stream = parts_.settings->options.stream;
    const auto window = static_cast<uint32_t>(stream.receive_window);
    Say(EncodeHello(MakeHello(window, stream.rails)));
    StartTimer(timeout);
  }

  size_t OnRead(Buffer& input) override {
    if (over()) return 0;
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
        Done({.kind = Handshaken::Kind::kNoHello});
        break;
    }
    return 0;
  }
  void OnClosed() override { Done({.kind = Handshaken::Kind::kNoHello}); }

 private:
  void OnTime() override { Done({.kind = Handshaken::Kind::kSilent}); }
  void OnAnswer(const link::HelloAnswer& answer) {
    if (answer.why() != 0) {
      return Done(
          {.kind = Handshaken::Kind::kPlain, .why = ReasonOfPeer(answer.why(), answer.text())});
    }
    if (answer.window() < kMinPeerWindow) return Done({.kind = Handshaken::Kind::kNoHello});
    Done({.kind = Handshaken::Kind::kLinked,
          .peer_window = answer.window(),
          .rails = AgreedRails(parts_.settings->options.stream.rails, answer.rails())});
  }
};

}  // namespace

std::unique_ptr<Handshake> NewClientHandshake(Handshake::Parts parts, Duration timeout) {
  return std::make_unique<ClientHandshake>(std::move(parts), timeout);
}

}  // namespace farcall
