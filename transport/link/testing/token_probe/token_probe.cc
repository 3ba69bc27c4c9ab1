// SPDX-License-Identifier: Apache-2.0
//
// A client that tries tokens on a real server, over real RDMA:
//
//   token_probe IP:PORT
//
// Prints for each attempt a line "ATTEMPT NAME-OF-REASON DETAIL"; in_use: it was let in. What
// a token is worth at which time is written in docs/wire.md; the test that runs this knows
// what to expect.

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/base/unique_fd.h"
#include "transport/link/hello/hello.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/upgrade/upgrade_messages.h"
#include "transport/rdma/testing/rdma_harness.h"
#include "transport/rdma/verbs/load.h"
#include "transport/sockaddr.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// Somewhat less than Until waits.
constexpr Duration kConnectLimit = std::chrono::seconds(25);

// A TCP connection that speaks link frames by hand, blocking.
class Lifeline {
 public:
  Lifeline(const Address& server, BlockPool& pool) : pool_(pool) {
    const auto address = ToSocketAddress(server);
    Check(address.ok(), "the server has an address");
    fd_ = UniqueFd(socket(address->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    Check(connect(fd_.get(), address->get(), address->length) == 0, "the server listens");
    const timeval limit{20, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    Send(EncodeHello(MakeHello(1 << 16)));
    link::HelloAnswer answer;
    while (CutAnswer(input_, answer) == HelloCut::kMore) Receive();
    Check(answer.why() == 0, "the server speaks link frames");
  }

  // Gives up what it asked for before.
  OfferMessage Ask(uint32_t generation) {
    if (generation > 1) Send({.type = LinkFrameType::kResume, .number = generation - 1});
    const std::string ask = EncodeAsk(generation, NotRdma(WhyNotRdma::kPending, ""));
    Send({.type = LinkFrameType::kUpgradeAsk, .payload = Buffer(ask)});
    while (true) {
      LinkFrame answer;
      const auto cut = CutLinkFrame(input_, answer);
      Check(cut.ok(), "the server sends frames");
      if (*cut > 0) {
        Receive();
        continue;
      }
      Check(answer.type != LinkFrameType::kUpgradeDecline, "the server has RDMA");
      if (answer.type != LinkFrameType::kUpgradeOffer) continue;
      const auto offer = ParseOffer(answer.payload.ToString());
      Check(offer.ok(), "the offer can be read");
      return *offer;
    }
  }

 private:
  void Send(LinkFrame frame) { Send(LinkFrameWriter(pool_).Encode(std::move(frame)).ToString()); }
  void Send(absl::string_view bytes) {
    const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    Check(sent == static_cast<ssize_t>(bytes.size()), "the server reads");
  }
  void Receive() {
    char bytes[4096];
    const ssize_t got = recv(fd_.get(), bytes, sizeof(bytes), 0);
    Check(got > 0, "the server answers");
    input_.Append(absl::string_view(bytes, static_cast<size_t>(got)));
  }

  BlockPool& pool_;
  UniqueFd fd_;
  Buffer input_;
};

RdmaRigOptions Options() {
  RdmaRigOptions options;
  options.load = [] { return LoadVerbsApi(); };
  options.loops = 1;
  return options;
}

class Prober {
 public:
  explicit Prober(const Address& server) : server_(server), harness_(Options(), RdmaPlaces()) {}
  ~Prober() { DropConnections(); }

  std::unique_ptr<Lifeline> NewLifeline() {
    return std::make_unique<Lifeline>(server_, harness_.pool());
  }

  // Says how a dial with this pass ends. Who is let in stays until DropConnections.
  void Try(absl::string_view attempt, const OfferMessage& offer, const UpgradePass& pass) {
    std::optional<absl::Status> result;
    std::unique_ptr<UpgradeTicket> ticket;
    EventLoop& loop = harness_.loops().at(0);
    OfferConnectOptions options;
    options.timeout = kConnectLimit;
    harness_.Run(loop, [&] {
      ticket = harness_.rig().transport().ConnectToOffer(
          loop, offer.addresses, pass, options, nullptr,
          [&](absl::StatusOr<std::unique_ptr<Connection>> connection) {
            if (connection.ok()) connections_.push_back(*std::move(connection));
            result = connection.status();
          });
    });
    const auto ended = [&] {
      bool ends = false;
      harness_.Run(loop, [&] { ends = result.has_value(); });
      return ends;
    };
    Check(harness_.Until(ended), "a dial ends");
    harness_.Run(loop, [&] { ticket.reset(); });
    const WhyNotRdma why = result->ok() ? WhyNotRdma::kInUse : ReasonOf(*result);
    const std::string line = absl::StrCat(attempt, " ", Name(why), " ", result->message());
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
  void Try(absl::string_view attempt, const OfferMessage& offer) {
    Try(attempt, offer, offer.pass);
  }

  void DropConnections() {
    harness_.Run(harness_.loops().at(0), [&] { connections_.clear(); });
  }

 private:
  const Address server_;
  DrivenRdmaHarness harness_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

void ProbeAll(const Address& server) {
  Prober prober(server);
  auto lifeline = prober.NewLifeline();
  OfferMessage offer = lifeline->Ask(1);
  UpgradePass wrong = offer.pass;
  wrong.token[3] ^= 1;
  prober.Try("wrong_token", offer, wrong);
  prober.Try("no_token", offer, UpgradePass());
  prober.Try("right_token", offer);
  prober.Try("used_twice", offer);
  prober.DropConnections();
  prober.Try("used_twice_later", offer);

  lifeline = prober.NewLifeline();
  offer = lifeline->Ask(1);
  wrong = offer.pass;
  wrong.generation = 2;
  prober.Try("wrong_generation", offer, wrong);
  prober.Try("void_at_its_first_sight", offer);

  lifeline = prober.NewLifeline();
  offer = lifeline->Ask(1);
  wrong = offer.pass;
  wrong.answer[3] ^= 1;
  prober.Try("wrong_answer", offer, wrong);

  lifeline = prober.NewLifeline();
  offer = lifeline->Ask(1);
  wrong = offer.pass;
  wrong.answer = UpgradeToken();
  prober.Try("older_client", offer, wrong);
  prober.DropConnections();

  lifeline = prober.NewLifeline();
  const OfferMessage first = lifeline->Ask(1);
  const OfferMessage second = lifeline->Ask(2);
  prober.Try("superseded", first);
  prober.Try("superseding", second);

  lifeline = prober.NewLifeline();
  offer = lifeline->Ask(1);
  lifeline.reset();
  // The server has read the end of the connection once it has answered a later one.
  prober.NewLifeline()->Ask(1);
  prober.Try("without_its_lifeline", offer);
}

}  // namespace
}  // namespace farcall

int main(int argc, char** argv) {
  const auto server = farcall::Address::Parse(argc == 2 ? argv[1] : "");
  if (!server.ok()) {
    std::fprintf(stderr, "usage: token_probe IP:PORT\n");
    return 2;
  }
  farcall::ProbeAll(*server);
  return 0;
}
