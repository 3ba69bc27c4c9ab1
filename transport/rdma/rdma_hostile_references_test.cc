// SPDX-License-Identifier: Apache-2.0
//
// References to memory that the other end is to fetch, from hostile peers.

#include "transport/rdma/rdma_hostile_testing.h"

namespace farcall {
namespace {

class RdmaHostileReferencesTest : public RdmaHostileTest {
 protected:
  static void SmallReads(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    Small(fabric, rig);
    rig.rdma.read_at_least = 4 << 10;
    rig.rdma.read_window = 2;
  }

  // Of garbage.
  static std::string Reference(uint32_t length, uint16_t read = 0, bool fin = false) {
    std::string bytes(kMessageHeaderBytes + RemoteBytes::kEncodedBytes, '\0');
    EncodeMessageHeader(
        {.count = kFirst + 4, .fin = fin, .reference = true, .references_read = read},
        bytes.data());
    EncodeRemoteBytes({.address = 0x1000, .key = 0x7777, .length = length},
                      bytes.data() + kMessageHeaderBytes);
    return bytes;
  }
};

TEST_F(RdmaHostileReferencesTest, ReferencesThatCannotBe) {
  Start(SmallReads);
  reads_ = 2;
  ExpectBreach({Reference(0)}, "refers to 0 bytes");
  ExpectBreach({Reference((1 << 20) + 1)}, "refers to 1048577 bytes");
  ExpectBreach({Reference(~0u)}, "refers to 4294967295 bytes");
  ExpectBreach({Reference(4096).substr(0, 23)}, "is to have a reference");
  ExpectBreach({Reference(4096) + "x"}, "is to have a reference");
  ExpectBreach({Reference(4096, /*read=*/1)}, "has read 1 references more, where 0 are open");
  ExpectBreach({Reference(4096, /*read=*/0xffff)}, "references more, where 0 are open");
  reads_ = 0;
  ExpectBreach({Reference(4096)}, "unknown flags 0x");
  ExpectServed();
}

// Of which as many wait as it has windows.
TEST_F(RdmaHostileReferencesTest, MoreReferencesThanItHasWindows) {
  Start(SmallReads);
  reads_ = 2;
  const auto end = Join();
  server_->Pause();
  Send(*end, std::vector<std::string>(3, Reference(4096)));
  ASSERT_TRUE(harness_->Until([&] {
    while (end->Next()) {
    }
    server_->Resume();
    return server_->seen().closes == 1;
  }));
  EXPECT_EQ(fabric().counters("fakeB").reads, 0u) << "of what breaks the rules nothing is fetched";
  ExpectServed();
}

// A key, or an address, of nothing: the device at the other end refuses.
TEST_F(RdmaHostileReferencesTest, AReferenceToWhatIsNotOpen) {
  Start(SmallReads);
  reads_ = 2;
  ExpectBreach({Reference(4096)}, "lost");
  EXPECT_EQ(fabric().counters("fakeB").reads, 1u);
  ExpectServed();
}

// It is given references and never reads: what is open to it is bounded, and closed with it.
TEST_F(RdmaHostileReferencesTest, APeerThatNeverReadsWhatItWasReferredTo) {
  Start(SmallReads);
  reads_ = 2;
  const auto end = Join();
  Send(*end, {Message(kFirst + 8)});
  server_->Send(1 << 20);
  harness_->Settle();
  EXPECT_LE(fabric().counters("fakeB").binds, 2u);
  EXPECT_EQ(server_->seen().closes, 0);
  server_->Close(absl::CancelledError("enough"), CloseMode::kAbort);
  EXPECT_TRUE(harness_->Until([&] { return server_->seen().closes == 1; }));
  while (end->Next()) {
  }
  ExpectServed();
}

}  // namespace
}  // namespace farcall
