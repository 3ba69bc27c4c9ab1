// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/match.h"
#include "transport/testing/conformance/conformance_checks.h"

namespace farcall {
namespace {

const absl::Status kBye = absl::CancelledError("bye");
const absl::Status kOther = absl::AbortedError("other");

void FlushDeliversAll(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.client.close_timeout = std::chrono::hours(1);
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(run.harness.LargestMessage());
  duo->client.Close(kBye, CloseMode::kFlush);
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  run.Expect(duo->server.seen().received == duo->client.sent(), "what was written arrived");
  run.ExpectClose(duo->client, kBye.code());
}

// Both write a lot and close; neither reads any more, yet both end, and soon.
void BothFlushAtOnce(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->client.Send(run.harness.LargestMessage());
  duo->server.Send(run.harness.LargestMessage());
  duo->client.Close(kBye, CloseMode::kFlush);
  duo->server.Close(kOther, CloseMode::kFlush);
  run.Until("both end", [&] { return duo->client.over() && duo->server.over(); });
  run.ExpectClose(duo->client, kBye.code());
}

void FlushHasATimeout(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.client.close_timeout = std::chrono::milliseconds(50);
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->server.Pause();
  duo->client.Send(run.harness.MoreThanFits());
  duo->client.Close(kBye, CloseMode::kFlush);
  run.ExpectClose(duo->client, kBye.code());
}

void AbortDoesNotWait(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->server.Pause();
  duo->client.Send(run.harness.MoreThanFits());
  run.harness.Settle();
  duo->client.Close(kBye, CloseMode::kAbort);
  run.ExpectClose(duo->client, kBye.code());
  duo->server.Resume();
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  run.Expect(duo->server.seen().received < duo->client.sent(), "what waited was dropped");
}

void AbortEndsAFlush(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.client.close_timeout = std::chrono::hours(1);
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->server.Pause();
  duo->client.Send(run.harness.MoreThanFits());
  duo->client.Close(kBye, CloseMode::kFlush);
  run.harness.Settle();
  run.Expect(duo->client.seen().closes == 0, "a flush waits for the reader");
  duo->client.Close(kOther, CloseMode::kAbort);
  run.ExpectClose(duo->client, kOther.code());
}

void OnlyTheFirstCloseCounts(ConformanceRun& run) {
  for (const CloseMode mode : {CloseMode::kFlush, CloseMode::kAbort}) {
    const auto duo = run.Connect();
    if (duo == nullptr) return;
    duo->client.Send(100);
    run.harness.Run(*duo->client.loop(), [&] {
      duo->client.Close(kBye, mode);
      duo->client.Close(kOther, mode);
      duo->client.Close(kOther, CloseMode::kFlush);
    });
    run.ExpectClose(duo->client, kBye.code());
    run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  }
}

void WriteAfterCloseIsDropped(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  run.harness.Run(*duo->client.loop(), [&] {
    duo->client.Send(100);
    duo->client.Close(kBye, CloseMode::kFlush);
    duo->client.Write(Buffer(absl::string_view("late")));
  });
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  run.Expect(duo->server.seen().received == 100, "only what was written before Close arrived");
}

// Of an end that has nothing to send, or whose last byte has left long ago.
void FlushInsideOnReadEnds(ConformanceRun& run) {
  for (const size_t answer : {size_t{0}, size_t{1000}}) {
    ConformanceRun::Setup setup;
    setup.client.close_timeout = setup.server.close_timeout = std::chrono::hours(1);
    setup.prepare = [&](Duo& duo) {
      duo.server.on_read = [&](TestPeer& server) {
        if (server.sent() < answer) return server.Send(answer);
        server.Close(kBye, CloseMode::kFlush);
      };
    };
    const auto duo = run.Connect(setup);
    if (duo == nullptr) return;
    if (answer > 0) {
      duo->client.Send(1000);
      if (!run.Until("it arrives", [&] { return duo->client.seen().received == answer; })) return;
    }
    run.harness.Settle();
    duo->client.Send(1000);
    run.ExpectClose(duo->server, absl::StatusCode::kCancelled);
    run.ExpectClose(duo->client, absl::StatusCode::kUnavailable);
  }
}

// The peer goes on sending; nothing of that is delivered, and nothing stops the end.
void CloseInsideOnRead(ConformanceRun& run) {
  for (const CloseMode mode : {CloseMode::kFlush, CloseMode::kAbort}) {
    ConformanceRun::Setup setup;
    setup.prepare = [mode](Duo& duo) {
      duo.server.on_read = [mode](TestPeer& server) { server.Close(kBye, mode); };
    };
    const auto duo = run.Connect(setup);
    if (duo == nullptr) return;
    duo->client.Send(size_t{3} << 20);
    run.ExpectClose(duo->server, kBye.code());
    run.ExpectClose(duo->client, absl::StatusCode::kUnavailable);
    run.Expect(duo->server.seen().reads == 1, "no OnRead after Close");
  }
}

void CloseInsideOnDrained(ConformanceRun& run) {
  for (const CloseMode mode : {CloseMode::kFlush, CloseMode::kAbort}) {
    ConformanceRun::Setup setup;
    setup.client.high_water = size_t{64} << 10;
    setup.client.low_water = size_t{16} << 10;
    setup.client.close_timeout = std::chrono::hours(1);
    setup.prepare = [mode](Duo& duo) {
      duo.client.on_drained = [mode](TestPeer& client) { client.Close(kBye, mode); };
    };
    const auto duo = run.Connect(setup);
    if (duo == nullptr) return;
    duo->client.Send(size_t{1} << 20);
    run.ExpectClose(duo->client, kBye.code());
    run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
    if (mode == CloseMode::kFlush) {
      run.Expect(duo->server.seen().received == duo->client.sent(), "what was written arrived");
    }
  }
}

}  // namespace

std::vector<ConformanceCheck> CloseChecks() {
  return {
      {"FlushDeliversAll", FlushDeliversAll},
      {"BothFlushAtOnce", BothFlushAtOnce},
      {"FlushHasATimeout", FlushHasATimeout},
      {"AbortDoesNotWait", AbortDoesNotWait},
      {"AbortEndsAFlush", AbortEndsAFlush},
      {"OnlyTheFirstCloseCounts", OnlyTheFirstCloseCounts},
      {"WriteAfterCloseIsDropped", WriteAfterCloseIsDropped},
      {"FlushInsideOnReadEnds", FlushInsideOnReadEnds},
      {"CloseInsideOnRead", CloseInsideOnRead},
      {"CloseInsideOnDrained", CloseInsideOnDrained},
  };
}

}  // namespace farcall
