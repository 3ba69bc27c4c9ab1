// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_RUN_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_RUN_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/testing/conformance/test_peer.h"
#include "transport/testing/test_random.h"
#include "transport/transport.h"

namespace farcall {

class ConformanceRun;

// A connection, seen from both ends: the one that connects and the one that accepts.
class Duo {
 public:
  // `run` outlives it.
  explicit Duo(ConformanceRun& run);
  Duo(const Duo&) = delete;
  Duo& operator=(const Duo&) = delete;
  // Aborts what is still open, and waits for the OnCloses.
  ~Duo();

  TestPeer client;
  TestPeer server;
  std::unique_ptr<Listener> listener;

 private:
  ConformanceRun& run_;
};

// What either end has sent is at the other one.
inline bool AllArrived(const Duo& duo) {
  return duo.server.seen().received == duo.client.sent() &&
         duo.client.seen().received == duo.server.sent();
}

inline bool OnRdma(TestPeer& peer) { return peer.info().transport == TransportKind::kRdma; }

// One check over one harness: what it needs to say what should hold, and what did not.
class ConformanceRun {
 public:
  explicit ConformanceRun(ConformanceHarness& under_test)
      : harness(under_test), random(under_test.seed()) {}

  struct Setup {
    ConnectionOptions client;
    ConnectionOptions server;
    std::optional<size_t> client_loop;  // none: any, as the seed says
    std::function<void(Duo&)> prepare;  // sets hooks, before there is a connection
  };
  // A `prepare`: the server pauses in its first OnRead and takes nothing; later ones take all.
  static void PauseInFirstRead(Duo& duo);
  // A started connection; null, and a violation, if that fails.
  std::unique_ptr<Duo> Connect(const Setup& setup);
  std::unique_ptr<Duo> Connect() { return Connect(Setup()); }

  // With more time than Until has: a machine that is busy elsewhere is no silent peer.
  static ConnectOptions Patient();
  // Connects from `loop` and returns the status that OnConnect got. `adopt`, if any, is called
  // inside OnConnect with the connection, which otherwise dies there.
  using AdoptFn = std::function<void(std::unique_ptr<Connection>)>;
  absl::Status TryConnect(const Address& peer, const ConnectOptions& options, EventLoop& loop,
                          const AdoptFn& adopt = nullptr);

  // A violation unless it holds.
  bool Expect(bool holds, absl::string_view what);
  // A violation unless it comes to hold.
  bool Until(absl::string_view what, absl::FunctionRef<bool()> holds);
  // The end of `peer` comes, by OnClose with this code.
  void ExpectClose(const TestPeer& peer, absl::StatusCode code);
  void Note(const std::vector<std::string>& violations);
  const std::vector<std::string>& violations() const { return violations_; }

  ConformanceHarness& harness;
  TestRandom random;

 private:
  std::vector<std::string> violations_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_RUN_H_
