// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/link_harness.h"

#include <mutex>
#include <string>
#include <utility>

#include "transport/testing/test_random.h"

namespace farcall {

// Connects with one transport, listens with the other.
class LinkHarness::Both final : public Transport {
 public:
  Both(LinkTransport client, LinkTransport server)
      : client_(std::move(client)), server_(std::move(server)) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override {
    client_.Connect(loop, peer, options, std::move(done));
  }
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override {
    return server_.Listen(loops, address, options, std::move(on_accept));
  }

 private:
  LinkTransport client_;
  LinkTransport server_;
};

struct LinkHarness::Log {
  std::mutex mutex;
  std::vector<std::string> lines;  // guarded by mutex
};

LinkVariant LinkVariant::Of(uint64_t seed) {
  TestRandom random(seed);
  LinkVariant variant;
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->stream.send_window = (size_t{4} << 10) + random.Below(size_t{124} << 10);
    options->stream.receive_window = (size_t{4} << 10) + random.Below(size_t{124} << 10);
    options->stream.max_data = (size_t{1} << 10) + random.Below(size_t{63} << 10);
  }
  variant.fabric.max_step = std::chrono::nanoseconds(random.Size(5'000'000));
  variant.fabric.dead_addresses = random.Below(3);
  SimOptions& network = variant.fabric.network;
  network.seed = random.Next();
  network.min_delay = std::chrono::nanoseconds(random.Size(100'000));
  network.max_delay = network.min_delay + std::chrono::nanoseconds(random.Size(500'000));
  network.window = (size_t{1} << 10) + random.Below(size_t{127} << 10);
  network.max_packet = (size_t{1} << 10) + random.Below(size_t{31} << 10);
  return variant;
}

LinkHarness::LinkHarness(std::unique_ptr<ConformanceHarness> inner, const LinkVariant& variant)
    : log_(std::make_shared<Log>()),
      fabric_(variant.fabric),
      record_(
          [log = log_](absl::string_view line) {
            const std::lock_guard<std::mutex> lock(log->mutex);
            log->lines.emplace_back(line);
          },
          &events_),
      inner_(std::move(inner)),
      client_rdma_(std::make_unique<SimUpgrade>(fabric_, inner_->pool(), variant.client_available)),
      server_rdma_(
          std::make_unique<SimUpgrade>(fabric_, inner_->pool(), variant.server_available)) {
  // Seeded, so that a run can be done again.
  const auto random = [this](uint64_t stream) {
    return [this, stream](std::span<uint8_t> bytes) {
      TestRandom dice(fabric_.NextRandom().Next() + stream);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(dice.Next());
    };
  };
  both_ = std::make_unique<Both>(
      LinkTransport(inner_->transport(), client_rdma_.get(), record_, variant.client, random(1)),
      LinkTransport(inner_->transport(), server_rdma_.get(), record_, variant.server, random(2)));
}

LinkHarness::~LinkHarness() { inner_->Settle(); }

std::vector<std::string> LinkHarness::log() const {
  const std::lock_guard<std::mutex> lock(log_->mutex);
  return log_->lines;
}

}  // namespace farcall
