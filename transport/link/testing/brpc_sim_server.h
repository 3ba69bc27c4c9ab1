// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_SERVER_H_
#define FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_SERVER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/brpc/hello.h"
#include "transport/link/testing/brpc_sim_setting.h"
#include "transport/link/testing/raw_peer.h"

namespace farcall {

// A link's client whose peers may be brpc, and a server that does by hand what brpc does. The
// client connects three times: it knows nothing, it has learnt, it has forgotten again.
class BrpcSimServer {
 public:
  explicit BrpcSimServer(uint64_t seed) : set_(seed), harness_(*set_.harness) {}
  std::string Run();

 private:
  // What it does about brpc's hello.
  enum class Does {
    kServe,
    kFellBack,
    kOff,
    kClose,
    kNothing,
    kHalf,         // of its answer, then it dies
    kAnswerDie,    // it dies behind its answer
    kDecisionDie,  // it dies when it has the decision
    kByte,         // a byte by TCP beside RDMA
    kLeave,        // it dies while it serves
    kDeaf,         // it does not even answer the hello before
  };
  // A connection of the client.
  struct Visit {
    EventLoop& loop;
    std::string opening = {};  // its first four bytes
    bool answered = false;
    bool decided = false;
    std::unique_ptr<BrpcPair> pair = nullptr;
    std::unique_ptr<RawPeer> rdma = nullptr;
  };

  // At the server.
  void OnRead(RawPeer& peer, Visit& visit);
  void OnHello(RawPeer& peer, Visit& visit);
  void Accept(RawPeer& peer, Visit& visit, const BrpcHello& hello);
  void Answer(RawPeer& peer, Visit& visit, const absl::StatusOr<BrpcEnd>& own);
  void OnDecision(RawPeer& peer, Visit& visit);
  void OnRdma(RawPeer& peer, Visit& visit);
  static void Die(RawPeer& peer, Visit& visit);
  void ForgetVisits();

  // At the client.
  bool Connect();
  void Call();
  std::vector<std::string> Openings();

  BrpcSimSetting set_;
  LinkHarness& harness_;
  Does does_ = Does::kServe;
  std::list<Visit> visits_;
  std::unique_ptr<RawServer> server_;
  std::unique_ptr<RawPeer> client_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_SERVER_H_
