// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_BRPC_VERBS_END_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_BRPC_VERBS_END_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/brpc_end.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/rdma/verbs/owned.h"

namespace farcall {

// A queue pair as brpc has it, by verbs alone, which a test takes from step to step: it keeps to no
// credits by itself. What comes is taken, and its receives are posted again, as Poll says. One
// thread at a time.
class BrpcVerbsEnd {
 public:
  struct Options {
    std::string device = "fakeA";
    uint32_t block_bytes = 8160;
    uint16_t send_slots = 128;
    uint16_t receive_slots = 128;
  };

  BrpcVerbsEnd(FakeFabric& fabric, const Options& options);
  BrpcVerbsEnd(const BrpcVerbsEnd&) = delete;
  BrpcVerbsEnd& operator=(const BrpcVerbsEnd&) = delete;
  // All that is left goes, in order.
  ~BrpcVerbsEnd();

  // In INIT, with all receives posted. False: a call failed, see errno.
  bool Make();
  // What it says of itself, once made.
  BrpcEnd own() const;
  // To RTR and RTS. An errno, or 0.
  int Join(const BrpcEnd& peer);
  // It errs, without an event.
  void Break();

  // At most block_bytes of the peer's, copied. An errno, or 0.
  int Send(absl::string_view bytes, uint32_t report, bool immediate = true);
  // Takes what has come.
  void Poll();

  std::string received;   // bytes, in order
  uint64_t messages = 0;  // with bytes, that came
  uint64_t bare = 0;      // without
  uint64_t reported = 0;  // to it
  uint32_t largest = 0;   // bytes of one message
  uint64_t sends = 0;     // that completed
  uint32_t untold = 0;    // receives posted again that were not reported
  std::vector<std::string> errors;

 private:
  int PostReceive(uint64_t slot);

  const VerbsApi& api_;
  const Options options_;
  std::vector<char> memory_;
  ibv_context* context_ = nullptr;
  ibv_port_attr port_{};
  ibv_gid_entry gid_{};
  ProtectionDomain domain_;
  MemoryRegion region_;
  CompletionQueue queue_;
  OwnedQueuePair pair_;
  uint64_t next_send_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_BRPC_VERBS_END_H_
