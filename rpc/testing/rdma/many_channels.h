// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_RDMA_MANY_CHANNELS_H_
#define FARCALL_RPC_TESTING_RDMA_MANY_CHANNELS_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"

namespace farcall {

using Channels = std::vector<std::unique_ptr<Channel>>;

// Receives as by default; the fabric does not look at their bytes.
inline void WithDefaultReceives(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  fabric.check_memory = false;
  rig.rdma.shared_receives = RdmaOptions().shared_receives;
  rig.rdma.max_shared_receives = RdmaOptions().max_shared_receives;
}

inline Channels OpenMany(const RdmaPeers& peers, size_t count) {
  Channels channels;
  for (size_t i = 0; i < count; ++i) channels.push_back(peers.Open());
  return channels;
}

// What carried some calls.
struct Carried {
  size_t rdma = 0;
  size_t tcp = 0;
  size_t failed = 0;
  std::string first_error;
  std::string why;  // of the first by TCP
};

// A call on each, all at once, with so many bytes attached. The server is EchoOrWhere.
inline Carried CallAll(const Channels& channels, size_t bytes = 0) {
  const std::string attached(bytes, 'a');
  std::vector<std::unique_ptr<TestCall>> calls;
  for (const auto& channel : channels) {
    calls.push_back(std::make_unique<TestCall>(bytes == 0 ? kWhere : "rdma load"));
    calls.back()->controller.request_attachment().Append(attached);
    calls.back()->Start(*channel);
  }
  Carried carried;
  for (const auto& call : calls) {
    if (!call->Wait() || call->controller.Failed()) {
      if (carried.failed++ == 0) carried.first_error = call->Error();
      continue;
    }
    const ConnectionInfo& info = *call->controller.connection();
    const bool both = info.transport == TransportKind::kRdma &&
                      absl::StartsWith(call->response.message(), "rdma ");
    if (!both && carried.tcp == 0) {
      carried.why = absl::StrCat(Name(info.why_not_rdma), ": ", info.why_detail);
    }
    ++(both ? carried.rdma : carried.tcp);
  }
  return carried;
}

// Until so many say that both ends use RDMA; no call fails meanwhile.
inline testing::AssertionResult ComeToRdma(const Channels& channels, size_t at_least) {
  Carried carried;
  const bool came = Eventually(
      [&] {
        carried = CallAll(channels);
        return carried.failed > 0 || carried.rdma >= at_least;
      },
      3 * kTestTimeout);
  if (came && carried.failed == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << carried.rdma << " over RDMA, " << carried.tcp << " over TCP (" << carried.why << "), "
         << carried.failed << " calls failed: " << carried.first_error;
}

// Those go that use RDMA now, all at once.
inline void EraseThoseOnRdma(Channels& channels) {
  const auto gone = std::partition(channels.begin(), channels.end(), [](const auto& channel) {
    TestCall call(kWhere);
    call.Call(*channel);
    return call.controller.connection()->transport != TransportKind::kRdma;
  });
  channels.erase(gone, channels.end());
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_RDMA_MANY_CHANNELS_H_
