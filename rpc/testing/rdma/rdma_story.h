// SPDX-License-Identifier: Apache-2.0
//
// The whole life of a server and its clients over RDMA, in virtual time: start, upgrade, calls
// with bytes in both directions, a break and the upgrade after it, channels that end amid their
// calls, Stop.

#ifndef FARCALL_RPC_TESTING_RDMA_RDMA_STORY_H_
#define FARCALL_RPC_TESTING_RDMA_RDMA_STORY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/rdma/stepped_rdma.h"

namespace farcall {

struct StoryPlan {
  FakeRdma::Change change;
  // Before the first call of the library.
  std::function<void(FakeFabric&)> before;
  // Before each turn of the loops, by number from 1, but for the last ones.
  std::function<void(FakeFabric&, int turn)> on_turn;
};

struct StoryOutcome {
  // What must not be whatever goes wrong: a call that failed, ended twice or never, a connection
  // that never comes back to RDMA, something that is left. Empty: nothing.
  std::string violation;
  // The library's calls, by name, those that can fail; and the one that did.
  std::vector<std::string> calls;
  std::string failed_call;
  uint64_t sends = 0;     // posted, by both
  uint64_t receives = 0;  // delivered, at both
  int turns = 0;
  // Of them, those before the server stops: then a thread is waited for, in any number of turns.
  int turns_to_stop = 0;
  // Of the client, before the end: what breaks while it closes is not reported.
  uint64_t upgrades = 0;
  uint64_t fallbacks = 0;
  std::string log;  // of both
};

class RdmaStory {
 public:
  explicit RdmaStory(const StoryPlan& plan);
  StoryOutcome Play();

 private:
  void Traffic(Channel& channel);
  void ComeToRdma();
  bool OnRdma();
  void Close();
  bool EndAll();
  void CheckCall(TestCall& call, size_t attachment);
  void Violation(const std::string& what);
  bool good() const { return outcome_.violation.empty(); }
  std::unique_ptr<Channel> Open();

  const StoryPlan plan_;
  StoryOutcome outcome_;
  SteppedRdma hosts_;
  ScriptedService service_{EchoOrWhere};
  std::unique_ptr<Server> server_;
  std::unique_ptr<Channel> channel_;
  std::vector<std::pair<std::unique_ptr<TestCall>, size_t>> calls_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_RDMA_RDMA_STORY_H_
