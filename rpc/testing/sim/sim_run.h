// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SIM_SIM_RUN_H_
#define FARCALL_RPC_TESTING_SIM_SIM_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/sim/sim_call.h"
#include "rpc/testing/sim/sim_service.h"
#include "rpc/testing/sim/tampering_transport.h"
#include "transport/buffer/block_pool.h"
#include "transport/testing/sim/sim_network.h"
#include "transport/testing/sim/sim_transport.h"
#include "transport/testing/sim/sim_world.h"
#include "transport/testing/test_random.h"

namespace farcall {

struct SimRunOptions {
  SimOptions network;  // its seed, delays and sizes are the run's
  // Every call has a deadline: where the network swallows bytes, nothing else ends it.
  bool deadlines = false;
  // Calls are cancelled at any moment.
  bool cancels = false;
  // The server is stopped now and then, and another one started. Its moments are not all
  // the seed's, since Stop blocks and so has a thread of its own.
  bool restarts = false;
  Tamper tamper = Tamper::kNothing;
  // Calls that fail are tried again, by a policy that is the seed's.
  bool retries = false;
};

struct SimOutcome {
  std::string violation;  // "": all held
  int calls = 0;
  int succeeded = 0;
  uint64_t digest = 0;  // of what happened to each call
};

// Clients and a server in virtual time: random calls, with random answers, over a random
// network. A run may be done once. One thread, but for restarts.
class SimRun {
 public:
  // `pool` outlives the run.
  SimRun(uint64_t seed, BlockPool& pool, const SimRunOptions& options);
  ~SimRun();

  SimOutcome Go();

 private:
  RuntimeParts Parts();
  void StartServer();
  void StopServer();
  void OpenChannel();
  int MostRuns() const;

  void Act();
  SimCall& NewCall(int depth);
  void StartCall();
  bool Drain();
  std::string CallViolation();
  std::string EndViolation();

  const SimRunOptions options_;
  BlockPool& pool_;
  TestRandom random_;
  const bool may_run_twice_;  // the calls, by the policy
  SimNetwork network_;
  SimTransport transport_;
  TamperingTransport tampering_;
  SimWorld world_;
  std::unique_ptr<Runtime> runtime_;
  const size_t largest_attachment_;
  SimService service_;
  const std::string address_;
  ServerOptions server_options_;
  std::unique_ptr<Server> server_;  // null: between two
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<SimCall>> calls_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SIM_SIM_RUN_H_
