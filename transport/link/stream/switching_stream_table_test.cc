// SPDX-License-Identifier: Apache-2.0
//
// Every state of the links against every event, frozen: what is ordered, and on which link
// this side sends afterwards, up to where. A change of this table is a change of the rules.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/link/stream/testing/recorded_stream.h"

namespace farcall {
namespace {

using Step = std::function<void(RecordedStream&)>;

// In each state "abc" was sent and not acknowledged, on the link that is sent on.
std::vector<std::pair<std::string, Step>> States() {
  const auto start = [](RecordedStream& s) { EXPECT_TRUE(s->Expect(1).ok()); };
  const auto on_g1 = [start](RecordedStream& s) {
    start(s);
    s->OnGenerationReady(1);
    s.Write("abc");
  };
  return {
      {"TCP", [](RecordedStream& s) { s.Write("abc"); }},
      {"TCP, G1 set up",
       [start](RecordedStream& s) {
         start(s);
         s.Write("abc");
       }},
      {"TCP, G1 dead",
       [start](RecordedStream& s) {
         start(s);
         s->OnGenerationBroken(1, absl::UnavailableError("x"));
         s.Write("abc");
       }},
      {"G1", on_g1},
      {"G1, early bytes",
       [on_g1](RecordedStream& s) {
         on_g1(s);
         s.Data(1, 2, "CD");
       }},
      {"G1, G2 set up",
       [on_g1](RecordedStream& s) {
         on_g1(s);
         EXPECT_TRUE(s->Expect(2).ok());
       }},
      {"G1, G2 ready",
       [on_g1](RecordedStream& s) {
         on_g1(s);
         EXPECT_TRUE(s->Expect(2).ok());
         s->OnGenerationReady(2);
       }},
  };
}

std::vector<std::pair<std::string, Step>> Events() {
  const auto read = [](LinkId link, LinkFrameType type, uint64_t offset, uint64_t acknowledged,
                       uint64_t number, std::string text) {
    return [=](RecordedStream& s) {
      // As a driver does: what is not read waits.
      if (!s->Reads(link)) return;
      s.Read(link, {.type = type,
                    .offset = offset,
                    .acknowledged = acknowledged,
                    .number = number,
                    .payload = Buffer(text)});
    };
  };
  const auto broken = [](LinkId link) {
    return [=](RecordedStream& s) {
      s->OnGenerationBroken(link, absl::UnavailableError("cut"));
      s->Flush(s.now());
    };
  };
  const auto ready = [](LinkId link) {
    return [=](RecordedStream& s) {
      s->OnGenerationReady(link);
      s.Write("d");
    };
  };
  return {
      {"G1 ready, write d", ready(1)},
      {"G2 ready, write d", ready(2)},
      {"G1 broken", broken(1)},
      {"G2 broken", broken(2)},
      {"RESUME 1 @2", read(kLifeline, LinkFrameType::kResume, 2, 1, 1, "")},
      {"RESUME 2 @2", read(kLifeline, LinkFrameType::kResume, 2, 1, 2, "")},
      {"nothing moves",
       [](RecordedStream& s) {
         s.AnswerPings(0);
         s.Pass(std::chrono::milliseconds(399));
         s.Take();
         s.Pass(std::chrono::milliseconds(2));
       }},
      {"TCP ACK 2", read(kLifeline, LinkFrameType::kAck, 0, 2, 0, "")},
      {"TCP ACK 4", read(kLifeline, LinkFrameType::kAck, 0, 4, 0, "")},
      {"TCP DATA due", read(kLifeline, LinkFrameType::kData, 0, 0, 0, "AB")},
      {"TCP DATA early", read(kLifeline, LinkFrameType::kData, 1, 0, 0, "BC")},
      {"G1 ACK 2", read(1, LinkFrameType::kAck, 0, 2, 0, "")},
      {"G1 DATA due", read(1, LinkFrameType::kData, 0, 0, 0, "AB")},
      {"G1 DATA early", read(1, LinkFrameType::kData, 1, 0, 0, "BC")},
      {"G1 BYE", read(1, LinkFrameType::kBye, 0, 0, 0, "")},
      {"BYE @0", read(kLifeline, LinkFrameType::kBye, 0, 0, 0, "")},
      {"close", [](RecordedStream& s) { s->CloseAfterFlush(s.now()); }},
      {"TCP ends", [](RecordedStream& s) { s->OnLifelineEnd(absl::OkStatus()); }},
  };
}

constexpr char kTable[] = R"(
== TCP
G1 ready, write d: TCP DATA @3+1 ack 0 -> TCP
G2 ready, write d: TCP DATA @3+1 ack 0 -> TCP
G1 broken: nothing -> TCP
G2 broken: nothing -> TCP
RESUME 1 @2: end INVALID_ARGUMENT -> TCP
RESUME 2 @2: end INVALID_ARGUMENT -> TCP
nothing moves: TCP PING 4 ack 0 -> TCP
TCP ACK 2: nothing -> TCP
TCP ACK 4: end INVALID_ARGUMENT -> TCP
TCP DATA due: deliver AB; TCP ACK ack 2 -> TCP
TCP DATA early: end INVALID_ARGUMENT -> TCP
G1 ACK 2: nothing -> TCP
G1 DATA due: nothing -> TCP
G1 DATA early: nothing -> TCP
G1 BYE: nothing -> TCP
BYE @0: TCP BYE @3 ack 0 -> TCP
close: TCP BYE @3 ack 0 -> TCP
TCP ends: end UNAVAILABLE -> TCP
== TCP, G1 set up
G1 ready, write d: G1 DATA @3+1 ack 0 -> G1
G2 ready, write d: TCP DATA @3+1 ack 0 -> TCP
G1 broken: G1 given up; TCP RESUME 1 @0 ack 0 -> TCP
G2 broken: nothing -> TCP
RESUME 1 @2: G1 given up; TCP RESUME 1 @0 ack 0 -> TCP
RESUME 2 @2: end INVALID_ARGUMENT -> TCP
nothing moves: TCP PING 4 ack 0 -> TCP
TCP ACK 2: nothing -> TCP
TCP ACK 4: end INVALID_ARGUMENT -> TCP
TCP DATA due: deliver AB; TCP ACK ack 2 -> TCP
TCP DATA early: end INVALID_ARGUMENT -> TCP
G1 ACK 2: nothing -> TCP
G1 DATA due: nothing -> TCP
G1 DATA early: nothing -> TCP
G1 BYE: nothing -> TCP
BYE @0: TCP BYE @3 ack 0 -> TCP
close: TCP BYE @3 ack 0 -> TCP
TCP ends: end UNAVAILABLE -> TCP
== TCP, G1 dead
G1 ready, write d: TCP DATA @3+1 ack 0 -> TCP
G2 ready, write d: TCP DATA @3+1 ack 0 -> TCP
G1 broken: nothing -> TCP
G2 broken: nothing -> TCP
RESUME 1 @2: nothing -> TCP
RESUME 2 @2: end INVALID_ARGUMENT -> TCP
nothing moves: TCP PING 4 ack 0 -> TCP
TCP ACK 2: nothing -> TCP
TCP ACK 4: end INVALID_ARGUMENT -> TCP
TCP DATA due: deliver AB; TCP ACK ack 2 -> TCP
TCP DATA early: end INVALID_ARGUMENT -> TCP
G1 ACK 2: nothing -> TCP
G1 DATA due: nothing -> TCP
G1 DATA early: nothing -> TCP
G1 BYE: nothing -> TCP
BYE @0: TCP BYE @3 ack 0 -> TCP
close: TCP BYE @3 ack 0 -> TCP
TCP ends: end UNAVAILABLE -> TCP
== G1
G1 ready, write d: G1 DATA @3+1 ack 0 -> G1
G2 ready, write d: G1 DATA @3+1 ack 0 -> G1
G1 broken: G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
G2 broken: nothing -> G1
RESUME 1 @2: G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @2+1 ack 0 -> TCP
RESUME 2 @2: end INVALID_ARGUMENT -> G1
nothing moves: TCP PING 4 ack 0; G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
TCP ACK 2: nothing -> G1
TCP ACK 4: end INVALID_ARGUMENT -> G1
TCP DATA due: deliver AB; G1 ACK ack 2 -> G1
TCP DATA early: end INVALID_ARGUMENT -> G1
G1 ACK 2: nothing -> G1
G1 DATA due: deliver AB; G1 ACK ack 2 -> G1
G1 DATA early: nothing -> G1
G1 BYE: end INVALID_ARGUMENT -> G1
BYE @0: TCP BYE @3 ack 0 -> G1
close: TCP BYE @3 ack 0 -> G1
TCP ends: end UNAVAILABLE -> G1
== G1, early bytes
G1 ready, write d: G1 DATA @3+1 ack 0 -> G1
G2 ready, write d: G1 DATA @3+1 ack 0 -> G1
G1 broken: G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
G2 broken: nothing -> G1
RESUME 1 @2: G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @2+1 ack 0 -> TCP
RESUME 2 @2: end INVALID_ARGUMENT -> G1
nothing moves: TCP PING 4 ack 0; G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
TCP ACK 2: nothing -> G1
TCP ACK 4: end INVALID_ARGUMENT -> G1
TCP DATA due: deliver AB; deliver CD; G1 ACK ack 4 -> G1
TCP DATA early: end INVALID_ARGUMENT -> G1
G1 ACK 2: nothing -> G1
G1 DATA due: deliver AB; deliver CD; G1 ACK ack 4 -> G1
G1 DATA early: nothing -> G1
G1 BYE: end INVALID_ARGUMENT -> G1
BYE @0: end INVALID_ARGUMENT -> G1
close: TCP BYE @3 ack 0 -> G1
TCP ends: end UNAVAILABLE -> G1
== G1, G2 set up
G1 ready, write d: G1 DATA @3+1 ack 0 -> G1
G2 ready, write d: G1 DATA @3+1 ack 0 -> G1
G1 broken: G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
G2 broken: G1 given up; G2 given up; TCP RESUME 2 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
RESUME 1 @2: G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @2+1 ack 0 -> TCP
RESUME 2 @2: G1 given up; G2 given up; TCP RESUME 2 @0 ack 0; TCP DATA @2+1 ack 0 -> TCP
nothing moves: TCP PING 4 ack 0; G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
TCP ACK 2: nothing -> G1
TCP ACK 4: end INVALID_ARGUMENT -> G1
TCP DATA due: deliver AB; G1 ACK ack 2 -> G1
TCP DATA early: end INVALID_ARGUMENT -> G1
G1 ACK 2: nothing -> G1
G1 DATA due: deliver AB; G1 ACK ack 2 -> G1
G1 DATA early: nothing -> G1
G1 BYE: end INVALID_ARGUMENT -> G1
BYE @0: TCP BYE @3 ack 0 -> G1
close: TCP BYE @3 ack 0 -> G1
TCP ends: end UNAVAILABLE -> G1
== G1, G2 ready
G1 ready, write d: G1 DATA @3+1 ack 0 -> G1
G2 ready, write d: G1 DATA @3+1 ack 0 -> G1
G1 broken: G1 given up; TCP RESUME 1 @0 ack 0; G2 DATA @0+3 ack 0 -> G2
G2 broken: G1 given up; G2 given up; TCP RESUME 2 @0 ack 0; TCP DATA @0+3 ack 0 -> TCP
RESUME 1 @2: G1 given up; TCP RESUME 1 @0 ack 0; G2 DATA @2+1 ack 0 -> G2
RESUME 2 @2: G1 given up; G2 given up; TCP RESUME 2 @0 ack 0; TCP DATA @2+1 ack 0 -> TCP
nothing moves: TCP PING 4 ack 0; G1 given up; TCP RESUME 1 @0 ack 0; G2 DATA @0+3 ack 0 -> G2
TCP ACK 2: nothing -> G1
TCP ACK 4: end INVALID_ARGUMENT -> G1
TCP DATA due: deliver AB; G1 ACK ack 2 -> G1
TCP DATA early: end INVALID_ARGUMENT -> G1
G1 ACK 2: nothing -> G1
G1 DATA due: deliver AB; G1 ACK ack 2 -> G1
G1 DATA early: nothing -> G1
G1 BYE: end INVALID_ARGUMENT -> G1
BYE @0: TCP BYE @3 ack 0 -> G1
close: TCP BYE @3 ack 0 -> G1
TCP ends: end UNAVAILABLE -> G1
)";

TEST(SwitchingStreamTableTest, EveryStateAndEvent) {
  std::string table = "\n";
  for (const auto& [state, enter] : States()) {
    absl::StrAppend(&table, "== ", state, "\n");
    for (const auto& [event, happen] : Events()) {
      RecordedStream stream;
      enter(stream);
      stream.Take();
      happen(stream);
      const LinkId link = stream->sending_on();
      const std::string orders = stream.Take();
      absl::StrAppend(&table, event, ": ", orders.empty() ? "nothing" : orders, " -> ",
                      link == kLifeline ? "TCP" : absl::StrCat("G", link), "\n");
    }
  }
  EXPECT_EQ(table, kTable);
}

}  // namespace
}  // namespace farcall
