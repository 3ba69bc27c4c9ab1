// SPDX-License-Identifier: Apache-2.0
//
// Every state and event: a changed transition is a changed table.

#include "transport/link/hello/hello_machine.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

using CS = ClientHello;
using CE = ClientHelloEvent;
using SS = ServerHello;
using SE = ServerHelloEvent;

TEST(HelloMachineTest, ClientTable) {
  struct Row {
    CE event;
    CS from_asking;
  };
  for (const Row& row : {
           Row{CE::kAccepted, CS::kLinked},
           Row{CE::kDeclined, CS::kPlain},
           Row{CE::kOtherBytes, CS::kNoHello},
           Row{CE::kClosed, CS::kNoHello},
           Row{CE::kTimedOut, CS::kSilentPeer},
       }) {
    EXPECT_EQ(Next(CS::kAsking, row.event), row.from_asking);
    for (const CS end : {CS::kLinked, CS::kPlain, CS::kSilentPeer, CS::kNoHello}) {
      EXPECT_EQ(Next(end, row.event), end);
    }
  }
}

TEST(HelloMachineTest, ServerTable) {
  struct Row {
    SE event;
    SS from_silent;
    SS from_begun;
    SS from_answering;
  };
  for (const Row& row : {
           Row{SE::kPart, SS::kBegun, SS::kBegun, SS::kAnswering},
           Row{SE::kHello, SS::kAnswering, SS::kAnswering, SS::kAnswering},
           Row{SE::kOtherBytes, SS::kPlain, SS::kPlain, SS::kAnswering},
           Row{SE::kBroken, SS::kClosed, SS::kClosed, SS::kAnswering},
           Row{SE::kAccept, SS::kSilent, SS::kBegun, SS::kLinked},
           Row{SE::kDecline, SS::kSilent, SS::kBegun, SS::kPlain},
           Row{SE::kTimedOut, SS::kPlain, SS::kClosed, SS::kPlain},
       }) {
    EXPECT_EQ(Next(SS::kSilent, row.event), row.from_silent);
    EXPECT_EQ(Next(SS::kBegun, row.event), row.from_begun);
    EXPECT_EQ(Next(SS::kAnswering, row.event), row.from_answering);
    for (const SS end : {SS::kLinked, SS::kPlain, SS::kClosed}) {
      EXPECT_EQ(Next(end, row.event), end);
    }
  }
}

}  // namespace
}  // namespace farcall
