// SPDX-License-Identifier: Apache-2.0
//
// fetch_bench ADDRESS SECONDS: how fast large pieces of registered memory go from one connection to
// another in this process, over the RDMA device of ADDRESS: sent, and fetched by the receiver into
// blocks of the pool and into a place of its own. For tools/rdma_vm; the ways alternate.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "transport/address.h"
#include "transport/base/check.h"
#include "transport/rdma/testing/rdma_harness.h"
#include "transport/rdma/verbs/load.h"

namespace farcall {
namespace {

enum class Way : uint8_t { kSent, kFetched, kLanded };

class End final : public Connection::Handler {
 public:
  size_t OnRead(Buffer& input) override {
    received += input.size();
    input.Clear();
    return 0;
  }
  Buffer PlaceFor(size_t, size_t bytes) override {
    if (place.empty()) return {};
    Buffer all = place.Share();
    return all.CutFront(std::min(bytes, all.size()));
  }
  void OnDrained() override {}
  void OnClose(const absl::Status& why) override {
    std::fprintf(stderr, "closed: %s\n", why.ToString().c_str());
    std::abort();
  }

  std::unique_ptr<Connection> connection;
  EventLoop* loop = nullptr;
  Buffer place;
  uint64_t received = 0;
};

Buffer Piece(SteppedRdmaHarness& harness, size_t bytes) {
  Buffer out;
  BlockRef block = harness.pool().Allocate(bytes);
  Check(block && block->capacity >= bytes, "the pool has a block");
  harness.DrainControl();
  out.Append({std::move(block), 0, static_cast<uint32_t>(bytes)});
  return out;
}

// A connection that sends pieces in one of the ways.
class Run {
 public:
  Run(const Address& address, Way way) : way_(way), harness_(Options(way), {address, {}, {}}) {
    auto listener = harness_.transport().Listen(
        harness_.loops(), address, ListenOptions(),
        [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
          server_.loop = &loop;
          server_.connection = std::move(connection);
          server_.connection->Start(server_);
        });
    Check(listener.ok(), "it listens");
    ConnectOptions connect;
    connect.timeout = kTimeout;
    client_.loop = &harness_.loops().at(0);
    harness_.Run(*client_.loop, [&] {
      harness_.transport().Connect(*client_.loop, (*listener)->address(), connect,
                                   [this](auto connection) {
                                     Check(connection.ok(), "it connects");
                                     client_.connection = *std::move(connection);
                                     client_.connection->Start(client_);
                                   });
    });
    const auto met = [this] { return client_.connection && server_.connection; };
    Check(harness_.Until(met) || harness_.Until(met) || harness_.Until(met), "they meet");
  }
  ~Run() {
    for (End* const end : {&client_, &server_}) {
      harness_.Run(*end->loop, [&] { end->connection.reset(); });
      end->place.Clear();
    }
    piece_.Clear();
    harness_.Settle();
  }

  // What is measured from now on.
  void SetPiece(size_t bytes) {
    piece_ = Piece(harness_, bytes);
    server_.place.Clear();
    if (way_ == Way::kLanded) server_.place = Piece(harness_, bytes);
    Measure(/*seconds=*/0);
  }
  // MB/s, one piece after the other: the next when the last has come.
  double Measure(double seconds) {
    const SteadyClock clock;
    const TimePoint start = clock.Now();
    const uint64_t before = server_.received;
    double took = 0;
    do {
      const uint64_t due = server_.received + piece_.size();
      harness_.Run(*client_.loop, [&] { client_.connection->Write(piece_.Share()); });
      Check(harness_.Until([&] { return server_.received == due; }), "it comes");
      took = std::chrono::duration<double>(clock.Now() - start).count();
    } while (took < seconds);
    return static_cast<double>(server_.received - before) / took / 1e6;
  }

 private:
  static constexpr Duration kTimeout = std::chrono::seconds(20);

  static RdmaRigOptions Options(Way way) {
    RdmaRigOptions options;
    options.load = [] { return LoadVerbsApi(); };
    options.rdma.read_at_least = way == Way::kSent ? 0 : 4 << 10;
    options.rdma.shared_receives = 128;
    options.rdma.connect_timeout = kTimeout;
    options.loops = 2;
    return options;
  }

  const Way way_;
  End client_;
  End server_;
  Buffer piece_;
  SteppedRdmaHarness harness_;
};

int Main(int argc, char** argv) {
  double seconds = 0;
  if (argc != 3 || !absl::SimpleAtod(argv[2], &seconds)) {
    std::fprintf(stderr, "usage: fetch_bench ADDRESS SECONDS\n");
    return 2;
  }
  const auto address = Address::ParseIp(argv[1]);
  Check(address.ok(), "the first argument is an address");
  constexpr int kRounds = 6;
  std::vector<std::unique_ptr<Run>> runs;
  for (const Way way : {Way::kSent, Way::kFetched, Way::kLanded}) {
    runs.push_back(std::make_unique<Run>(*address, way));
  }
  for (const size_t bytes : {64 << 10, 256 << 10, 1 << 20, 2 << 20}) {
    std::vector<double> rates[3];
    for (const auto& run : runs) run->SetPiece(bytes);
    for (int round = 0; round < kRounds; ++round) {
      for (size_t way = 0; way < runs.size(); ++way) {
        rates[way].push_back(runs[way]->Measure(seconds));
      }
    }
    std::printf("%7zu bytes, MB/s:", bytes);
    const char* const names[] = {"sent", "fetched", "landed"};
    for (int way = 0; way < 3; ++way) {
      std::sort(rates[way].begin(), rates[way].end());
      std::printf("  %s %.1f (%.1f to %.1f)", names[way],
                  (rates[way][kRounds / 2 - 1] + rates[way][kRounds / 2]) / 2, rates[way].front(),
                  rates[way].back());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace farcall

int main(int argc, char** argv) { return farcall::Main(argc, argv); }
