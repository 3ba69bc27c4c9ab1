// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/brpc_sim.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "transport/base/check.h"
#include "transport/link/testing/brpc_sim_client.h"
#include "transport/link/testing/brpc_sim_server.h"
#include "transport/testing/sim/sim_harness.h"

namespace farcall {

BrpcSimSetting::BrpcSimSetting(uint64_t seed) : random(seed), faulty(random.Chance(0.3)) {
  const auto change = [this](SimOptions& network) {
    network.max_delay += std::chrono::microseconds(random.Below(3000));
    if (!faulty) return;
    network.reset = 0.02;
    network.mute = 0.02;
  };
  LinkVariant variant = LinkVariant::Of(seed);
  if (faulty) {
    variant.fabric.no_offer = variant.fabric.no_capacity = 0.1;
    variant.fabric.refuse = 0.3;
    variant.fabric.network.reset = 0.05;
  }
  harness.emplace(std::make_unique<SimHarness>(seed, change), variant);
  payload = "PRPC" + std::string(random.Below(40'000), 'x');
  for (size_t i = 4; i < payload.size(); ++i) payload[i] = static_cast<char>(i * 31 + i / 251);
}

void BrpcSimSetting::Expect(bool holds, const std::string& what) {
  if (!holds && wrong.empty()) wrong = what;
}

std::string BrpcSimSetting::Finish() {
  harness->Settle();
  SimBrpcPairs& pairs = harness->fabric().brpc;
  Expect(pairs.breach.empty(), pairs.breach);
  Expect(harness->Until([&] { return pairs.size() == 0; }), "queue pairs are left");
  return wrong;
}

void BrpcSimSetting::Pass(Duration time) {
  bool passed = false;
  EventLoop& loop = harness->loops().at(0);
  Timer timer([&passed] { passed = true; });
  harness->Run(loop, [&] { loop.SetTimer(timer, loop.now() + time); });
  Check(harness->Until([&] { return passed; }), "time passes");
}

std::string RunBrpcSim(uint64_t seed) {
  return seed % 2 == 0 ? BrpcSimClient(seed).Run() : BrpcSimServer(seed).Run();
}

}  // namespace farcall
