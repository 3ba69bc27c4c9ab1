// SPDX-License-Identifier: Apache-2.0
//
// A peer that sends any bytes to a whole connection of the link: hello, frames, messages of the
// upgrade, on either end, in virtual time; some are frames that are almost right, so that what is
// behind the parsers is reached. What must hold: the connection lives or ends with a text, and
// leaves nothing.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "transport/base/check.h"
#include "transport/link/hello/hello.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/link/upgrade/upgrade_messages.h"
#include "transport/testing/fuzz_input.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// Mostly small, sometimes huge.
uint64_t Number(FuzzInput& input) {
  const uint8_t byte = input.Next();
  return byte < 224 ? byte % 32 : uint64_t{byte} << (8 * (byte % 8));
}

std::string Message(FuzzInput& input) {
  const auto generation = static_cast<uint32_t>(1 + input.Next() % 3);
  switch (input.Next() % 4) {
    case 0:
      return EncodeAsk(generation, NotRdma(WhyNotRdma::kPending, ""));
    case 1:
      return EncodeDecline(generation, NotRdma(WhyNotRdma::kCapacity, "full"));
    case 2: {
      UpgradePass pass;
      pass.generation = generation;
      pass.token.fill(input.Next());
      return EncodeOffer(pass,
                         {{Address::Ipv4({10, 0, 9, input.Next()}, 1), "x", LinkLayer::kRoce}});
    }
    default:
      return input.Take(input.Next() % 32);
  }
}

std::string Frame(FuzzInput& input, BlockPool& pool) {
  using Type = LinkFrameType;
  LinkFrame frame;
  frame.type = static_cast<Type>(1 + input.Next() % 11);
  frame.acknowledged = Number(input) % 3 == 0 ? Number(input) : 0;
  switch (frame.type) {
    case Type::kData:
      frame.offset = Number(input);
      frame.payload = Buffer(std::string(1 + input.Next() % 64, 'd'));
      break;
    case Type::kUpgradeAsk:
    case Type::kUpgradeOffer:
    case Type::kUpgradeDecline:
    case Type::kUpgradeSetUp:
      frame.payload = Buffer(Message(input));
      break;
    case Type::kResume:
    case Type::kRailAck:
      frame.number = 1 + input.Next() % 3;
      frame.offset = Number(input);
      if (frame.type == Type::kRailAck) frame.arrival = static_cast<uint32_t>(Number(input));
      break;
    case Type::kPing:
    case Type::kPong:
      frame.number = Number(input);
      frame.offset = frame.type == Type::kPong ? Number(input) : 0;
      break;
    case Type::kBye:
      frame.offset = Number(input);
      break;
    case Type::kAck:
      break;
  }
  std::string bytes = LinkFrameWriter(pool).Encode(std::move(frame)).ToString();
  const uint8_t spoilt = input.Next();
  if (spoilt >= 240) bytes[spoilt % bytes.size()] ^= static_cast<char>(1 + input.Next());
  return bytes;
}

std::string Hello(FuzzInput& input, bool answer) {
  const uint8_t kind = input.Next();
  if (kind >= 240) return input.Take(kind % 80);
  const uint32_t window = kind < 200 ? 1 << 16 : kind;
  link::HelloAnswer accepted;
  accepted.set_version(kLinkVersion);
  accepted.set_window(window);
  const uint32_t rails = kind % 16 == 14 ? 3 : 1;
  if (rails > 1) accepted.set_rails(rails);
  std::string bytes = answer ? EncodeAnswer(accepted) : EncodeHello(MakeHello(window, rails));
  if (kind % 16 == 15) bytes[kind % bytes.size()] ^= static_cast<char>(input.Next());
  return bytes;
}

class Run {
 public:
  explicit Run(FuzzInput& input)
      : harness_(std::make_unique<SimHarness>(1), Variant()), client_(input.Next() % 2) {
    client_ ? MeetClient(input) : MeetServer(input);
    while (!input.empty() && !Over()) Do(input);
  }
  ~Run() {
    for (RawPeer* const peer : {hostile_, tested_}) {
      if (peer != nullptr && !peer->closed) peer->Close(CloseMode::kAbort);
    }
    const bool ended = harness_.Until([&] { return tested_ == nullptr || tested_->closed; });
    Check(ended, "a connection that is closed ends");
    if (tested_ != nullptr) Check(!tested_->closed->message().empty(), "an end has a text");
    own_.reset();
    server_.reset();
    Check(harness_.Until([&] { return harness_.pool().stats().used_bytes == 0; }),
          "every block comes home");
  }

 private:
  // A client that would like to have three rails.
  static LinkVariant Variant() {
    LinkVariant variant = LinkVariant::Of(1);
    variant.client.stream.rails = 3;
    return variant;
  }
  // A server of the link, and a client by hand.
  void MeetServer(FuzzInput& input) {
    server_ = std::make_unique<RawServer>(harness_, harness_.transport(), [](RawPeer& peer) {
      peer.on_read = [](RawPeer& self) { self.Send(std::exchange(self.received, "")); };
    });
    own_ = RawPeer::Connect(harness_, harness_.tcp(), server_->address());
    hostile_ = own_.get();
    hostile_->Send(Hello(input, /*answer=*/false));
    Check(harness_.Until([&] { return !server_->peers.empty(); }), "it is accepted");
    tested_ = server_->peers.front().get();
  }
  // A client of the link, and a server by hand, which answers once.
  void MeetClient(FuzzInput& input) {
    server_ = std::make_unique<RawServer>(harness_, harness_.tcp(), [](RawPeer&) {});
    EventLoop& loop = harness_.loops().at(0);
    harness_.Run(loop, [&] {
      harness_.transport().Connect(
          loop, server_->address(), ConnectOptions(), [&](auto connection) {
            Check(connection.ok(), "who does not know the hello is spoken to plainly");
            own_ = std::make_unique<RawPeer>(harness_, loop, *std::move(connection));
          });
    });
    Check(harness_.Until([&] { return !server_->peers.empty(); }), "it is connects");
    server_->peers.front()->Send(Hello(input, /*answer=*/true));
    Check(harness_.Until([&] { return own_ != nullptr; }), "it is connected");
    hostile_ = server_->peers.back().get();
    tested_ = own_.get();
  }

  bool Over() const { return hostile_->closed || tested_->closed; }
  void Do(FuzzInput& input) {
    switch (input.Next() % 8) {
      case 0:
        return hostile_->Send(input.Take(input.Next() % 64));
      case 1:
        return tested_->Send(std::string(1 + input.Next() * 16, 'w'));
      case 2:
        return WaitFor(std::chrono::milliseconds(1 + input.Next() * 8));
      case 3:
        if (input.Next() % 8 == 0) tested_->Close(CloseMode::kFlush);
        return;
      default:
        return hostile_->Send(Frame(input, harness_.pool()));
    }
  }
  void WaitFor(Duration time) {
    const Clock& clock = harness_.loops().at(0).clock();
    const TimePoint end = clock.Now() + time;
    while (clock.Now() < end) harness_.Settle();
  }

  LinkHarness harness_;
  const bool client_;
  std::unique_ptr<RawServer> server_;
  std::unique_ptr<RawPeer> own_;
  RawPeer* hostile_ = nullptr;
  RawPeer* tested_ = nullptr;
};

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  farcall::FuzzInput input(data, size);
  farcall::Run run(input);
  return 0;
}
