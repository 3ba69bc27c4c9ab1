// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "transport/testing/conformance/conformance_checks.h"

namespace farcall {
namespace {

void BytesArriveInOrderBothWays(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  for (int i = 0; i < 40; ++i) {
    duo->client.Send(run.random.Size(run.harness.LargestMessage()));
    duo->server.Send(run.random.Size(run.harness.LargestMessage()));
    if (run.random.Chance(0.3)) run.harness.Settle();
  }
  run.Until("all bytes arrive", [&] { return AllArrived(*duo); });
}

// A message comes back before the next one goes: nothing waits for more.
void OneMessageAtATime(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.prepare = [](Duo& duo) {
    duo.server.on_read = [](TestPeer& server) {
      server.Send(static_cast<size_t>(server.seen().received - server.sent()));
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  for (int i = 0; i < 100; ++i) {
    duo->client.Send(run.random.Size(256));
    if (!run.Until("the answer comes", [&] { return AllArrived(*duo); })) return;
  }
}

void EmptyWriteIsNothing(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->client.Write(Buffer());
  run.harness.Settle();
  run.Expect(duo->server.seen().reads == 0, "an empty write is not seen");
  duo->client.Write(Buffer());
  duo->client.Send(1);
  duo->client.Write(Buffer());
  run.Until("the byte arrives", [&] { return duo->server.seen().received == 1; });
}

// Messages of sizes that both sides know. The receiver leaves what is not whole in the
// input, and says how much it needs, or that it does not know.
class Frames {
 public:
  Frames(uint64_t seed, size_t largest, bool tells)
      : sizes_(seed), largest_(largest), tells_(tells) {
    Next();
  }

  size_t Next() {
    const size_t size = size_;
    size_ = sizes_.Chance(0.1) ? sizes_.Size(largest_) : 20 + sizes_.Below(300);
    return size;
  }
  size_t TakeWhole(TestPeer& peer, Buffer& input) {
    while (input.size() >= size_) peer.Take(input, Next());
    return tells_ && input.size() >= 12 ? size_ : 0;
  }

 private:
  TestRandom sizes_;
  const size_t largest_;
  const bool tells_;
  size_t size_ = 0;
};

void TakeFrames(ConformanceRun& run, bool tells) {
  const uint64_t seed = run.harness.seed();
  const size_t largest = run.harness.LargestMessage();
  Frames received(seed, largest, tells);
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      return received.TakeWhole(peer, input);
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  Frames sent(seed, largest, tells);
  for (int i = 0; i < 300; ++i) {
    duo->client.Send(sent.Next());
    if (run.random.Chance(0.05)) run.harness.Settle();
  }
  run.Until("all frames arrive", [&] { return AllArrived(*duo); });
}

void PartsOfFramesStayInTheInput(ConformanceRun& run) { TakeFrames(run, /*tells=*/false); }
void HandlersMayReturnFrameSizes(ConformanceRun& run) { TakeFrames(run, /*tells=*/true); }

// What OnRead returns is a hint: one that is never true must not stop or spoil anything.
void WrongHintsDoNoHarm(ConformanceRun& run) {
  TestRandom hints(run.harness.seed());
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      peer.Take(input, input.size() - input.size() / 3);
      if (peer.seen().received + input.size() == (size_t{256} << 10))
        peer.Take(input, input.size());
      return static_cast<size_t>(hints.Size(size_t{1} << 30));
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  for (int i = 0; i < 64; ++i) duo->client.Send(size_t{4} << 10);
  run.Until("all bytes arrive", [&] { return AllArrived(*duo); });
}

// Blocks that the receiver keeps do not change under it.
void BytesHandedOverNeverChange(ConformanceRun& run) {
  std::vector<Buffer> kept;
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      kept.push_back(input.Share());
      peer.Take(input, input.size());
      return size_t{0};
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  for (int i = 0; i < 100; ++i) {
    duo->client.Send(run.random.Size(size_t{32} << 10));
    run.harness.Settle();
  }
  run.Until("all bytes arrive", [&] { return AllArrived(*duo); });
  run.harness.Run(*duo->server.loop(), [&] {
    const TestPattern pattern(1);
    uint64_t at = 0;
    for (const Buffer& part : kept) {
      for (const Buffer::Slice& slice : part.slices()) {
        run.Expect(pattern.Matching(at, slice.view()) == slice.length, "kept bytes stay");
        at += slice.length;
      }
    }
    kept.clear();
  });
}

}  // namespace

std::vector<ConformanceCheck> ByteChecks() {
  return {
      {"BytesArriveInOrderBothWays", BytesArriveInOrderBothWays},
      {"OneMessageAtATime", OneMessageAtATime},
      {"EmptyWriteIsNothing", EmptyWriteIsNothing},
      {"PartsOfFramesStayInTheInput", PartsOfFramesStayInTheInput},
      {"HandlersMayReturnFrameSizes", HandlersMayReturnFrameSizes},
      {"WrongHintsDoNoHarm", WrongHintsDoNoHarm},
      {"BytesHandedOverNeverChange", BytesHandedOverNeverChange},
  };
}

}  // namespace farcall
