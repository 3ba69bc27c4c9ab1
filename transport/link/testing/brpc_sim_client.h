// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_CLIENT_H_
#define FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "transport/brpc/hello.h"
#include "transport/link/testing/brpc_sim_setting.h"
#include "transport/link/testing/raw_peer.h"

namespace farcall {

// A client that does by hand what brpc does, and a link's server.
class BrpcSimClient {
 public:
  explicit BrpcSimClient(uint64_t seed) : set_(seed), harness_(*set_.harness) {}
  std::string Run();

 private:
  // Behind which it ends. At some it may fall silent.
  enum class Step { kConnect, kHalf, kHello, kAnswer, kEarly, kDecision, kOpen, kNever };

  // Whether it goes on.
  bool MakePair();
  bool SayHello();
  bool HearAnswer();
  bool Join();
  bool Open();
  bool StayOnTcp();
  void SendAndHearBack(RawPeer& peer);
  void Breach();
  bool Until(const std::function<bool()>& done);
  bool Lives(Step behind) const { return end_ != behind; }
  void End();

  BrpcSimSetting set_;
  LinkHarness& harness_;
  std::unique_ptr<RawServer> server_;
  std::unique_ptr<RawPeer> tcp_;
  std::unique_ptr<BrpcPair> pair_;
  std::unique_ptr<RawPeer> rdma_;
  Step end_ = Step::kNever;
  bool silent_ = false;
  std::optional<BrpcEnd> own_;
  BrpcHello answer_;
  bool decided_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_CLIENT_H_
