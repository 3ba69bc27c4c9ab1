// SPDX-License-Identifier: Apache-2.0
//
// What peers that break the rules of the link send, byte for byte.

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_HOSTILE_TESTING_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_HOSTILE_TESTING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/upgrade/upgrade_messages.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall::hostile {

using Type = LinkFrameType;

inline std::string Bytes(LinkFrame frame) {
  static const std::unique_ptr<BlockPool> pool = std::move(BlockPool::Create({})).value();
  return LinkFrameWriter(*pool).Encode(std::move(frame)).ToString();
}
// A frame with a header that says anything.
inline std::string Raw(uint8_t type, uint32_t length, uint64_t offset, uint64_t acknowledged,
                       const std::string& payload = "", uint32_t flags = 0) {
  std::string bytes(1, static_cast<char>(type));
  const auto append = [&](uint64_t value, int size) {
    for (int i = size - 1; i >= 0; --i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  };
  append(flags, 3);
  append(length, 4);
  append(offset, 8);
  append(acknowledged, 8);
  return bytes + payload;
}
inline std::string Ask(uint32_t generation) {
  return Bytes({.type = Type::kUpgradeAsk,
                .payload = Buffer(EncodeAsk(generation, NotRdma(WhyNotRdma::kPending, "")))});
}
inline std::string Resume(uint32_t generation, uint64_t offset = 0) {
  return Bytes({.type = Type::kResume, .offset = offset, .number = generation});
}
inline std::string Ping(uint64_t number) { return Bytes({.type = Type::kPing, .number = number}); }
inline std::string Data(uint64_t offset, const std::string& text, uint64_t acknowledged = 0) {
  return Bytes({.type = Type::kData,
                .offset = offset,
                .acknowledged = acknowledged,
                .payload = Buffer(text)});
}

struct Case {
  const char* name;
  std::string bytes;
  const char* text;  // of the error
};

// What neither end may send, whatever was before.
inline std::vector<Case> AlwaysWrong() {
  return {
      {"type 0", Raw(0, 0, 0, 0), "its type is 0"},
      {"type 12", Raw(12, 0, 0, 0), "its type is 12"},
      {"RAIL_ACK", Bytes({.type = Type::kRailAck, .number = 1}), "several rails are not agreed on"},
      {"flags", Raw(2, 0, 0, 0, "", 0x10000), "flags 0x010000"},
      {"DATA of nothing", Raw(1, 0, 0, 0), "DATA with a payload of 0 bytes"},
      {"DATA of 4 MiB + 1", Raw(1, (4 << 20) + 1, 0, 0), "over the limit: DATA"},
      {"DATA of 4 GiB", Raw(1, UINT32_MAX, 0, 0), "over the limit: DATA"},
      {"ACK with bytes", Raw(2, 1, 0, 0, "x"), "ACK with a payload of 1 bytes"},
      {"ACK with an offset", Raw(2, 0, 1, 0), "ACK with the offset 1"},
      {"PING of 7", Raw(7, 7, 0, 0, "1234567"), "PING with a payload of 7 bytes"},
      {"ASK of 4097", Raw(3, 4097, 0, 0), "over the limit: UPGRADE_ASK"},
      {"no stream goes on", Raw(1, 1, UINT64_MAX, 0, "x"), "behind which no stream goes on"},
      {"RESUME of 0", Raw(6, 8, 0, 0, std::string(8, '\0')), "RESUME of generation 0"},
      {"RESUME of 2^32", Raw(6, 8, 0, 0, std::string("\0\0\0\1\0\0\0\0", 8)),
       "RESUME of generation 4294967296"},
      {"RESUME of the future", Resume(9), "RESUME of generation 9"},
      {"ACK beyond what was sent", Raw(2, 0, 0, 1 << 20), "acknowledges offset 1048576"},
      {"DATA early", Data(5, "x"), "DATA at offset 5 on the lifeline"},
      {"DATA beyond the window", Data(uint64_t{1} << 40, "x"), "where the window ends at"},
      {"PONG unasked", Bytes({.type = Type::kPong, .number = 77}), "PONG 77"},
      {"PINGs in a row", Ping(1) + Ping(2), "a PING before the answer to the last one"},
      {"BYE twice",
       Bytes({.type = Type::kBye, .offset = 9}) + Bytes({.type = Type::kBye, .offset = 9}),
       "after another"},
      {"BYE at what was passed", Data(0, "abc") + Bytes({.type = Type::kBye, .offset = 2}),
       "which it had passed"},
      {"DATA after BYE", Bytes({.type = Type::kBye, .offset = 2}) + Data(0, "abc"),
       "after a BYE at 2"},
  };
}

class LinkHostileTest : public testing::Test {
 protected:
  LinkHostileTest() : harness_(std::make_unique<SimHarness>(1), Variant()) {}
  ~LinkHostileTest() override {
    EXPECT_TRUE(harness_.Until([&] { return harness_.pool().stats().used_bytes == 0; }));
  }
  static LinkVariant Variant() {
    LinkVariant variant = LinkVariant::Of(1);
    // Slow enough that an ask is still worked on when what follows it comes.
    variant.fabric.max_step = std::chrono::milliseconds(1);
    return variant;
  }

  TimePoint Now() { return harness_.loops().at(0).clock().Now(); }
  void WaitFor(Duration time) {
    const TimePoint end = Now() + time;
    while (Now() < end) harness_.Settle();
  }
  bool Soon(const std::function<bool()>& done, Duration bound) {
    const TimePoint start = Now();
    return harness_.Until(done) && Now() - start <= bound;
  }

  LinkHarness harness_;
};

}  // namespace farcall::hostile

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_HOSTILE_TESTING_H_
