// SPDX-License-Identifier: Apache-2.0
//
// Runtime: what channels and servers stand on: event loops with their threads,
// transports, memory, and the thread for what may block. A program needs to know
// it only to set its options or to have several.

#ifndef FARCALL_RPC_RUNTIME_H_
#define FARCALL_RPC_RUNTIME_H_

#include <memory>

#include "absl/status/statusor.h"
#include "rpc/options.h"
#include "rpc/runtime_parts.h"
#include "transport/why_not_rdma.h"

namespace farcall {

class Runtime {
 public:
  // Starts the threads. Fails when the system gives no threads, descriptors or memory.
  static absl::StatusOr<std::unique_ptr<Runtime>> Create(const RuntimeOptions& options);
  // On parts of the caller's making, all of them but the log (null: as in RuntimeOptions),
  // which outlive it: for loops that the program drives itself, and for simulations.
  static std::unique_ptr<Runtime> On(RuntimeParts parts);
  // Made with default options when it is first asked for, and never destroyed. Any thread.
  static absl::StatusOr<Runtime*> Default();

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  // After its channels and servers, after all closures of handlers were run, and after the
  // Buffers that came from it; not from a closure or handler. Waits for its threads and
  // for calls that are still under way, which end by their deadlines.
  ~Runtime();

  const RuntimeParts& parts() const { return parts_; }
  // Of all its channels and servers since it was made. Any thread. Zeros on parts of the
  // caller's making.
  UpgradeCounts upgrade_counts() const;

 private:
  struct Machine;
  Runtime();

  std::unique_ptr<Machine> machine_;  // null: the parts are the caller's
  RuntimeParts parts_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_H_
