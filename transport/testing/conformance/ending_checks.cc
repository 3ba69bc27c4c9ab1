// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/match.h"
#include "transport/testing/conformance/conformance_checks.h"

namespace farcall {
namespace {

void ExpectPeerNamed(ConformanceRun& run, const TestPeer& peer, const Address& other) {
  if (other.family() == AddressFamily::kNone) return;
  run.Expect(absl::StrContains(peer.seen().why.message(), other.ToString()),
             "the reason names the peer");
}

// The other end dies as with its process: without Close.
void DeathOfThePeerIsUnavailable(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  const Address server = duo->client.info().peer;
  duo->server.Destroy();
  run.ExpectClose(duo->client, absl::StatusCode::kUnavailable);
  ExpectPeerNamed(run, duo->client, server);
  run.Expect(duo->server.seen().closes == 0, "no OnClose after the destructor");
}

void DeathOfTheClientIsUnavailable(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  const Address client = duo->server.info().peer;
  duo->client.Destroy();
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  ExpectPeerNamed(run, duo->server, client);
}

// A paused connection whose peer is gone cannot drain, so it ends without being resumed.
void DeathOfThePeerEndsAPausedWriter(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->client.Pause();
  duo->server.Pause();
  duo->client.Send(run.harness.MoreThanFits());
  run.harness.Settle();
  duo->server.Destroy();
  run.ExpectClose(duo->client, absl::StatusCode::kUnavailable);
}

void DestroyedWithABacklog(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->server.Pause();
  duo->client.Send(run.harness.MoreThanFits());
  run.harness.Settle();
  duo->client.Destroy();
  duo->server.Resume();
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
}

void DestroyedInTheTurnOfAWrite(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  run.harness.Run(*duo->client.loop(), [&] {
    duo->client.Send(1000);
    duo->client.Destroy();
  });
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
}

// OnClose is due, and must not come any more.
void DestroyedAfterClose(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  run.harness.Run(*duo->client.loop(), [&] {
    duo->client.Close(absl::CancelledError("bye"), CloseMode::kAbort);
    duo->client.Destroy();
  });
  run.harness.Settle();
  run.Expect(duo->client.seen().closes == 0, "no OnClose after the destructor");
}

void DestroyedLongAfterOnClose(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.prepare = [](Duo& duo) { duo.client.destroy_in_on_close = false; };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(1000);
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  run.ExpectClose(duo->client, absl::StatusCode::kCancelled);
  run.harness.Settle();
  duo->client.Pause();
  duo->client.Resume();
  duo->client.Send(1);
  duo->client.Close(absl::AbortedError("again"), CloseMode::kAbort);
  run.harness.Settle();
  run.Expect(duo->client.backlog() == 0, "nothing is queued after OnClose");
  run.Expect(duo->client.seen().closes == 1, "OnClose comes once");
  duo->client.Destroy();
}

void InputBeforeTheEndIsDelivered(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.client.close_timeout = std::chrono::hours(1);
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->server.Pause();
  duo->client.Send(size_t{20} << 10);
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  run.harness.Settle();
  run.Expect(duo->server.seen().closes == 0, "the end waits behind what was not read");
  duo->server.Resume();
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  run.Expect(duo->server.seen().received == duo->client.sent(), "what was written arrived");
}

// The end comes right after reading goes on, for which whole messages are left in the input.
void ResumeThenEndGivesTheInput(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.client.close_timeout = std::chrono::hours(1);
  setup.prepare = ConformanceRun::PauseInFirstRead;
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(1000);
  if (!run.Until("OnRead comes", [&] { return duo->server.seen().reads == 1; })) return;
  run.harness.Settle();
  duo->server.Resume();
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  run.Expect(duo->server.seen().received == duo->client.sent(), "what was written arrived");
}

// The requests arrive, and are delivered, although answering them fails.
void InputOfADeadPeerIsDelivered(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.client.close_timeout = std::chrono::hours(1);
  setup.prepare = [](Duo& duo) {
    duo.server.on_read = [](TestPeer& server) { server.Send(size_t{100} << 10); };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(size_t{20} << 10);
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  run.Expect(duo->server.seen().received == duo->client.sent(), "what was written arrived");
}

}  // namespace

std::vector<ConformanceCheck> EndingChecks() {
  return {
      {"DeathOfThePeerIsUnavailable", DeathOfThePeerIsUnavailable},
      {"DeathOfTheClientIsUnavailable", DeathOfTheClientIsUnavailable},
      {"DeathOfThePeerEndsAPausedWriter", DeathOfThePeerEndsAPausedWriter},
      {"DestroyedWithABacklog", DestroyedWithABacklog},
      {"DestroyedInTheTurnOfAWrite", DestroyedInTheTurnOfAWrite},
      {"DestroyedAfterClose", DestroyedAfterClose},
      {"DestroyedLongAfterOnClose", DestroyedLongAfterOnClose},
      {"InputBeforeTheEndIsDelivered", InputBeforeTheEndIsDelivered},
      {"ResumeThenEndGivesTheInput", ResumeThenEndGivesTheInput},
      {"InputOfADeadPeerIsDelivered", InputOfADeadPeerIsDelivered},
  };
}

}  // namespace farcall
