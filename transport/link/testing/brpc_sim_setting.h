// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_SETTING_H_
#define FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_SETTING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "transport/base/time.h"
#include "transport/link/testing/link_harness.h"
#include "transport/testing/test_random.h"

namespace farcall {

// What both kinds of runs of brpc_sim.h have.
struct BrpcSimSetting {
  explicit BrpcSimSetting(uint64_t seed);

  void Expect(bool holds, const std::string& what);
  // Less than a minute, virtual.
  void Pass(Duration time);
  // Once all connections are gone: what was wrong.
  std::string Finish();

  TestRandom random;
  const bool faulty;  // network and fabric fail
  std::optional<LinkHarness> harness;
  std::string payload;  // of the client, which the server sends back
  std::string wrong;    // the first of it
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_SETTING_H_
