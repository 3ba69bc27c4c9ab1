// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/conformance/conformance_run.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"

namespace farcall {
namespace {

constexpr uint64_t kUpstream = 1;
constexpr uint64_t kDownstream = 2;

// How one Connect went; used on its loop and by the test's thread.
struct Outcome {
  std::mutex mutex;
  std::optional<absl::Status> status;
  int calls = 0;
  bool inside = false;  // Connect is on the stack
  bool told_inside = false;

  bool known() {
    const std::lock_guard<std::mutex> lock(mutex);
    return status.has_value();
  }
};

}  // namespace

Duo::Duo(ConformanceRun& run)
    : client(run.harness, "client", kUpstream, kDownstream),
      server(run.harness, "server", kDownstream, kUpstream),
      run_(run) {}

Duo::~Duo() {
  if (!run_.violations().empty()) {
    for (const TestPeer* const peer : {&client, &server}) run_.Note({peer->StateText()});
  }
  for (TestPeer* const peer : {&client, &server}) {
    if (!peer->over()) peer->Close(absl::CancelledError("the check is over"), CloseMode::kAbort);
  }
  for (TestPeer* const peer : {&client, &server}) {
    if (peer->seen().started) run_.Until("OnClose comes", [&] { return peer->over(); });
  }
  if (listener != nullptr) listener->Close();
  run_.harness.Settle();
  for (TestPeer* const peer : {&client, &server}) {
    run_.Expect(peer->seen().closes <= 1, "OnClose comes once");
    run_.Note(peer->violations());
  }
}

std::unique_ptr<Duo> ConformanceRun::Connect(const Setup& setup) {
  auto duo = std::make_unique<Duo>(*this);
  if (setup.prepare) setup.prepare(*duo);
  ListenOptions listen;
  listen.connection = setup.server;
  auto listener = harness.transport().Listen(
      harness.loops(), harness.FreeAddress(), listen,
      [peer = &duo->server](EventLoop& loop, std::unique_ptr<Connection> connection) {
        peer->Adopt(loop, std::move(connection));
      });
  if (!Expect(listener.ok(), absl::StrCat("Listen works: ", listener.status().ToString()))) {
    return nullptr;
  }
  duo->listener = *std::move(listener);
  ConnectOptions connect = Patient();
  connect.connection = setup.client;
  const size_t any = random.Below(harness.loops().size());
  EventLoop& loop = harness.loops().at(setup.client_loop.value_or(any));
  const absl::Status connected = TryConnect(duo->listener->address(), connect, loop,
                                            [&](std::unique_ptr<Connection> connection) {
                                              duo->client.Adopt(loop, std::move(connection));
                                            });
  if (!Expect(connected.ok(), absl::StrCat("Connect works: ", connected.ToString())) ||
      !Until("OnAccept comes", [&] { return duo->server.seen().started; })) {
    return nullptr;
  }
  return duo;
}

ConnectOptions ConformanceRun::Patient() {
  ConnectOptions options;
  options.timeout = std::chrono::seconds(60);
  return options;
}

absl::Status ConformanceRun::TryConnect(const Address& peer, const ConnectOptions& options,
                                        EventLoop& loop, const AdoptFn& adopt) {
  const auto outcome = std::make_shared<Outcome>();
  harness.Run(loop, [&] {
    outcome->inside = true;
    harness.transport().Connect(
        loop, peer, options,
        [outcome, adopt, &loop](absl::StatusOr<std::unique_ptr<Connection>> connection) {
          outcome->told_inside |= outcome->inside || !loop.held();
          const absl::Status status = connection.status();
          if (status.ok() && adopt) adopt(*std::move(connection));
          const std::lock_guard<std::mutex> lock(outcome->mutex);
          ++outcome->calls;
          // The loop keeps its own clock.
          outcome->status = Detached(status);
        });
    outcome->inside = false;
  });
  if (!Until("OnConnect comes", [&] { return outcome->known(); })) {
    return absl::InternalError("OnConnect was not called");
  }
  const std::lock_guard<std::mutex> lock(outcome->mutex);
  Expect(!outcome->told_inside, "OnConnect comes with the loop held, not from inside Connect");
  Expect(outcome->calls == 1, "OnConnect comes once");
  return *std::move(outcome->status);
}

bool ConformanceRun::Expect(bool holds, absl::string_view what) {
  if (!holds) violations_.push_back(absl::StrCat("expected: ", what));
  return holds;
}

bool ConformanceRun::Until(absl::string_view what, absl::FunctionRef<bool()> holds) {
  return Expect(harness.Until(holds), what);
}

void ConformanceRun::PauseInFirstRead(Duo& duo) {
  duo.server.take = [](TestPeer& server, Buffer& input) {
    if (server.seen().reads == 1) {
      server.Pause();
    } else {
      server.Take(input, input.size());
    }
    return size_t{0};
  };
}

void ConformanceRun::ExpectClose(const TestPeer& peer, absl::StatusCode code) {
  if (!Until("OnClose comes", [&] { return peer.seen().closes > 0; })) return;
  Expect(peer.seen().why.code() == code,
         absl::StrCat("OnClose says ", absl::StatusCodeToString(code), ", not ",
                      peer.seen().why.ToString()));
}

void ConformanceRun::Note(const std::vector<std::string>& violations) {
  violations_.insert(violations_.end(), violations.begin(), violations.end());
}

}  // namespace farcall
