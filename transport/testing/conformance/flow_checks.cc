// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "transport/testing/conformance/conformance_checks.h"

namespace farcall {
namespace {

constexpr size_t kHigh = size_t{256} << 10;
constexpr size_t kLow = size_t{64} << 10;

ConformanceRun::Setup LowMarks() {
  ConformanceRun::Setup setup;
  setup.client.high_water = kHigh;
  setup.client.low_water = kLow;
  return setup;
}

bool UpstreamArrived(const Duo& duo) { return duo.server.seen().received == duo.client.sent(); }

void BacklogOfAPausedReaderDrainsOnce(ConformanceRun& run) {
  const auto duo = run.Connect(LowMarks());
  if (duo == nullptr) return;
  for (int crossing = 1; crossing <= 2; ++crossing) {
    duo->server.Pause();
    duo->client.Send(run.harness.MoreThanFits());
    run.harness.Settle();
    run.Expect(duo->client.backlog() > kHigh, "the backlog stays above high_water");
    run.Expect(duo->client.seen().drained == crossing - 1, "OnDrained waits for the reader");
    duo->server.Resume();
    run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
    run.Until("OnDrained comes", [&] { return duo->client.seen().drained >= crossing; });
    run.harness.Settle();
    run.Expect(duo->client.seen().drained == crossing, "OnDrained comes once for each crossing");
    run.Expect(duo->client.backlog() == 0, "all is written");
  }
}

void BelowHighWaterNothingIsDrained(ConformanceRun& run) {
  const auto duo = run.Connect(LowMarks());
  if (duo == nullptr) return;
  // Nor would all of it be above, if it had to be sent again.
  for (int i = 0; i < 20; ++i) {
    duo->client.Send(kHigh / 32);
    if (!run.Until("the bytes leave", [&] { return duo->client.backlog() == 0; })) return;
  }
  run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
  run.Expect(duo->client.seen().drained == 0, "no OnDrained without a crossing");
}

void OnDrainedMayWrite(ConformanceRun& run) {
  ConformanceRun::Setup setup = LowMarks();
  setup.prepare = [](Duo& duo) {
    duo.client.on_drained = [](TestPeer& client) {
      if (client.seen().drained < 10) client.Send(kHigh + 1);
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(kHigh + 1);
  run.Until("each write is drained", [&] { return duo->client.seen().drained == 10; });
  run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
}

// As a server does: who reads nothing while backlog() is above the mark hears of its fall,
// whatever made it rise. It writes up to the mark itself, so that a byte more of any
// transport's own goes over it.
void WhoPausesWhileBackloggedGoesOn(ConformanceRun& run) {
  constexpr uint64_t kTotal = 8 * kHigh;
  ConformanceRun::Setup setup;
  setup.server.high_water = kHigh;
  setup.server.low_water = kLow;
  setup.prepare = [](Duo& duo) {
    duo.client.on_read = [](TestPeer& client) {
      if (client.sent() < kTotal) client.Send(1000);
    };
    duo.server.on_read = [](TestPeer& server) {
      const size_t backlog = server.backlog();
      if (backlog < kHigh && server.sent() < kTotal) server.Send(kHigh - backlog);
      if (backlog > kHigh) server.Pause();
    };
    duo.server.on_drained = [](TestPeer& server) { server.Resume(); };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  while (duo->server.sent() < kTotal) {
    duo->client.Send(10000);
    if (!run.Until("it goes on", [&] { return UpstreamArrived(*duo); })) return;
  }
  run.Until("its own bytes arrive",
            [&] { return duo->client.seen().received == duo->server.sent(); });
}

// What the other end has received is no backlog, to the byte, however the bytes travel: pieces of
// all sizes, in both directions, while the network is full and while it is not.
void BacklogIsTheWritersBytes(ConformanceRun& run) {
  const auto duo = run.Connect(LowMarks());
  if (duo == nullptr) return;
  const auto compare = [&run](TestPeer& writer, const TestPeer& reader) {
    const uint64_t received = reader.seen().received;
    run.Expect(writer.left() >= received, "what was received has left");
  };
  for (int i = 0; i < 60; ++i) {
    for (TestPeer* const writer : {&duo->client, &duo->server}) {
      const auto pieces = 1 + run.random.Below(20);
      for (uint64_t piece = 0; piece < pieces; ++piece) {
        writer->Send(run.random.Size(run.random.Chance(0.2) ? kHigh / 8 : 64));
      }
    }
    const uint64_t goal = run.random.Below(duo->client.sent() + 1);
    run.Until("bytes arrive", [&] {
      compare(duo->client, duo->server);
      compare(duo->server, duo->client);
      return duo->server.seen().received >= goal;
    });
  }
  run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
  run.Until("the backlogs are empty",
            [&] { return duo->client.backlog() == 0 && duo->server.backlog() == 0; });
}

// OnDrained is due, or has just come: neither it nor the end is in the other's way.
void CloseWhenOnDrainedIsDue(ConformanceRun& run) {
  ConformanceRun::Setup setup = LowMarks();
  setup.client.close_timeout = std::chrono::hours(1);
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(2 * kHigh);
  if (!run.Until("the bytes leave", [&] { return duo->client.backlog() <= kLow; })) return;
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  run.ExpectClose(duo->client, absl::StatusCode::kCancelled);
  run.ExpectClose(duo->server, absl::StatusCode::kUnavailable);
  run.Expect(UpstreamArrived(*duo), "what was written arrived");
}

// ResumeRead has something to give, or has just given it.
void CloseAfterResume(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.prepare = [](Duo& duo) {
    duo.server.take = [](TestPeer& server, Buffer&) {
      server.Pause();
      return size_t{0};
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(1000);
  if (!run.Until("OnRead comes", [&] { return duo->server.seen().reads == 1; })) return;
  run.harness.Run(*duo->server.loop(), [&] {
    duo->server.Resume();
    duo->server.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  });
  run.ExpectClose(duo->server, absl::StatusCode::kCancelled);
  run.Expect(duo->server.seen().reads == 1, "no OnRead after Close");
}

// What the reader does not take is not taken from the writer either.
void PauseStopsTheWriter(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->server.Pause();
  duo->client.Send(run.harness.MoreThanFits());
  for (int i = 0; i < 5; ++i) run.harness.Settle();
  run.Expect(duo->client.backlog() > 0, "the writer is held up");
  run.Expect(duo->server.seen().received == 0, "nothing is read after PauseRead");
  // The other direction goes on.
  duo->server.Send(size_t{100} << 10);
  run.Until("the other direction flows",
            [&] { return duo->client.seen().received == duo->server.sent(); });
  duo->server.Resume();
  run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
}

void PausesKeepTheOrder(ConformanceRun& run) {
  std::atomic<int> paused{0};
  std::atomic<int> resumed{0};
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.on_read = [&](TestPeer& server) {
      if (paused == 100) return;
      server.Pause();
      ++paused;
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(size_t{1} << 20);
  while (!UpstreamArrived(*duo)) {
    const bool stopped = run.Until("reading stops or ends",
                                   [&] { return paused > resumed || UpstreamArrived(*duo); });
    if (!stopped) return;
    if (paused == resumed) break;
    ++resumed;
    duo->server.Resume();
  }
}

// A handler that pauses with whole messages left in the input gets them on ResumeRead,
// even if the peer sends nothing more.
void ResumeGivesTheInputAgain(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.prepare = ConformanceRun::PauseInFirstRead;
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  duo->client.Send(1000);
  run.Until("OnRead comes", [&] { return duo->server.seen().reads == 1; });
  run.harness.Settle();
  run.Expect(duo->server.seen().reads == 1, "no OnRead after PauseRead");
  duo->server.Resume();
  run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
}

// PauseRead and ResumeRead are not counted.
void PauseTwiceResumeOnce(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->server.Pause();
  duo->server.Pause();
  duo->client.Send(1000);
  run.harness.Settle();
  duo->server.Resume();
  run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
  duo->server.Resume();
  duo->client.Send(1000);
  run.Until("all bytes arrive", [&] { return UpstreamArrived(*duo); });
}

}  // namespace

std::vector<ConformanceCheck> FlowChecks() {
  return {
      {"BacklogOfAPausedReaderDrainsOnce", BacklogOfAPausedReaderDrainsOnce},
      {"BelowHighWaterNothingIsDrained", BelowHighWaterNothingIsDrained},
      {"BacklogIsTheWritersBytes", BacklogIsTheWritersBytes},
      {"OnDrainedMayWrite", OnDrainedMayWrite},
      {"WhoPausesWhileBackloggedGoesOn", WhoPausesWhileBackloggedGoesOn},
      {"CloseWhenOnDrainedIsDue", CloseWhenOnDrainedIsDue},
      {"CloseAfterResume", CloseAfterResume},
      {"PauseStopsTheWriter", PauseStopsTheWriter},
      {"PausesKeepTheOrder", PausesKeepTheOrder},
      {"ResumeGivesTheInputAgain", ResumeGivesTheInputAgain},
      {"PauseTwiceResumeOnce", PauseTwiceResumeOnce},
  };
}

}  // namespace farcall
