// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_ECHO_RUN_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_ECHO_RUN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "transport/rdma/testing/rdma_harness.h"
#include "transport/testing/conformance/test_peer.h"

namespace farcall {

// Listen, connect, send, echo, close: with something going wrong at one of its steps. What
// must hold whatever goes wrong: it comes to an end, each OnConnect and OnClose is called
// once, no byte is wrong, and nothing breaks a rule.
class EchoRun {
 public:
  // `harness` and its `clock`, which moves while the run does, outlive it. `unheard`: the faults
  // are such that the server may hear of nothing; it is aborted in the end.
  EchoRun(SteppedRdmaHarness& harness, const Clock& clock, bool unheard);
  // Aborts what is left, and waits for its end.
  ~EchoRun();

  // The whole of it; `on_step` is called between the steps of the harness, with their number.
  // Returns what stopped it: OK, it went to its end.
  absl::Status Go(absl::FunctionRef<void(int step)> on_step);
  // What must never happen.
  std::vector<std::string> Violations() const;
  // Why the connections ended, at both ends.
  std::string Trace() const;
  int steps() const { return steps_; }

 private:
  absl::Status Listen();
  absl::Status Connect();
  bool Until(absl::FunctionRef<bool()> done);
  bool Broken() const;
  bool ServersOver() const;

  SteppedRdmaHarness& harness_;
  const Clock& clock_;
  const bool unheard_;
  const absl::FunctionRef<void(int)>* on_step_ = nullptr;
  int steps_ = 0;
  std::unique_ptr<Listener> listener_;
  std::shared_ptr<TestPeer> client_;
  std::vector<std::shared_ptr<TestPeer>> servers_;
  std::shared_ptr<std::optional<absl::Status>> connected_;
  std::vector<std::string> violations_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_ECHO_RUN_H_
