// SPDX-License-Identifier: Apache-2.0
//
// What Connection::Handler::PlaceFor says. A transport may make no use of it: then the same must
// hold, and does.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "transport/testing/conformance/conformance_checks.h"

namespace farcall {
namespace {

constexpr char kUntouched = '\x5a';

// A place for each byte of a stream, that of byte n at n.
class Place {
 public:
  explicit Place(size_t bytes) : bytes_(bytes, kUntouched) {}

  // A part of it, in pieces of any size.
  Buffer Part(uint64_t at, size_t bytes, TestRandom& random) {
    Buffer part;
    bytes = std::min<size_t>(bytes, bytes_.size() - std::min<size_t>(at, bytes_.size()));
    while (bytes > 0) {
      const size_t piece = std::clamp<size_t>(random.Size(bytes), 1, bytes);
      ++lent_;
      part.AppendUserData(&bytes_[at], piece, [this] { --lent_; });
      at += piece;
      bytes -= piece;
    }
    return part;
  }
  // Whether bytes that lie here lie where they belong.
  bool Fits(uint64_t at, absl::string_view bytes) const {
    const char* const begin = bytes_.data();
    if (bytes.data() < begin || bytes.data() >= begin + bytes_.size()) return true;
    return static_cast<uint64_t>(bytes.data() - begin) == at;
  }
  // There is no reference to it.
  bool idle() const { return lent_ == 0; }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
  int lent_ = 0;  // with the loop held
};

void ExpectPlaced(ConformanceRun& run, const Place& place, uint64_t at, const Buffer& input) {
  for (const Buffer::Slice& slice : input.slices()) {
    run.Expect(place.Fits(at, slice.view()), "bytes lie where the handler wanted them");
    at += slice.length;
  }
}

// The handler gives places for some bytes and not for others, and takes what comes in messages.
void BytesMayLandInTheHandlersMemory(ConformanceRun& run) {
  const size_t message = std::min(run.harness.LargestMessage(), size_t{1} << 20);
  const size_t total = 8 * message;
  Place place(total);
  TestRandom choices(run.harness.seed());
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.place_for = [&](TestPeer&, uint64_t at, size_t bytes) {
      if (choices.Chance(0.2)) return Buffer();
      return place.Part(at, std::clamp<size_t>(choices.Size(bytes), 1, bytes), choices);
    };
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      ExpectPlaced(run, place, peer.seen().received, input);
      while (input.size() >= message) peer.Take(input, message);
      return message;
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  for (size_t sent = 0; sent < total; sent += message) {
    duo->client.Send(message / 3);
    if (run.random.Chance(0.5)) run.harness.Settle();
    duo->client.Send(message - message / 3);
  }
  run.Until("all bytes arrive", [&] { return duo->server.seen().received == total; });
  duo->server.Destroy();
  run.harness.Run(*duo->server.loop(),
                  [&] { run.Expect(place.idle(), "no reference to the place is left"); });
}

// The handler gives no memory any more from the middle of a message on, and once there is no
// reference to what it gave, it is the handler's alone.
void MemoryIsTheHandlersAgainOnceItIsDropped(ConformanceRun& run) {
  const size_t message = std::min(run.harness.LargestMessage(), size_t{1} << 20);
  Place place(message);
  TestRandom choices(run.harness.seed());
  bool over = false;
  bool taken_back = false;
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.place_for = [&](TestPeer&, uint64_t at, size_t bytes) {
      return over ? Buffer() : place.Part(at, bytes, choices);
    };
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      over |= peer.seen().received + input.size() > message / 2;
      peer.Take(input, input.size());
      if (over && place.idle() && !taken_back) {
        taken_back = true;
        std::fill(place.bytes().begin(), place.bytes().end(), kUntouched);
      }
      return static_cast<size_t>(message - peer.seen().received);
    };
  };
  const auto duo = run.Connect(setup);
  if (duo == nullptr) return;
  // Once the size is known, and in several reads.
  for (size_t sent = 0; sent < message;) {
    const size_t part = std::min(message - sent, 1 + message / 20);
    duo->client.Send(part);
    sent += part;
    run.harness.Settle();
  }
  run.Until("all bytes arrive", [&] { return duo->server.seen().received == message; });
  duo->server.Destroy();
  run.harness.Run(*duo->server.loop(), [&] {
    run.Expect(place.idle(), "no reference to the place is left");
    if (!taken_back) return;
    const std::string& bytes = place.bytes();
    run.Expect(bytes == std::string(bytes.size(), kUntouched), "nothing else writes there");
  });
}

}  // namespace

std::vector<ConformanceCheck> PlacementChecks() {
  return {
      {"BytesMayLandInTheHandlersMemory", BytesMayLandInTheHandlersMemory},
      {"MemoryIsTheHandlersAgainOnceItIsDropped", MemoryIsTheHandlersAgainOnceItIsDropped},
  };
}

}  // namespace farcall
