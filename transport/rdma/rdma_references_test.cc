// SPDX-License-Identifier: Apache-2.0
//
// Bytes that the peer fetches: where they land, and what opens and closes memory to the peer.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_references_testing.h"

namespace farcall {
namespace {

TEST_F(RdmaReferencesTest, BytesLandWhereTheHandlerSays) {
  Begin();
  kept_ = Bytes(kLarge, /*seed=*/9);
  const std::byte* const place = kept_.slices().front().block->data;
  server_.place_for = [this](size_t ahead, size_t bytes) {
    EXPECT_EQ(ahead, 0u);
    EXPECT_EQ(server_.came.ToString(), "header") << "what stands before was handed over";
    EXPECT_EQ(bytes, kLarge);
    return kept_.Share();
  };
  Buffer message(absl::string_view("header"));
  message.Append(Bytes(kLarge));
  message.Append(absl::string_view("tail"));
  const std::string expected = message.ToString();
  Send(client_, std::move(message));
  ASSERT_TRUE(Until([&] { return server_.came.size() == expected.size(); }));
  EXPECT_TRUE(server_.came.ToString() == expected);
  bool landed = false;
  for (const Buffer::Slice& slice : server_.came.slices()) landed |= slice.block->data == place;
  EXPECT_TRUE(landed) << "the very block";
  EXPECT_EQ(reads("fakeB"), kReadsOfLarge);
  EXPECT_EQ(server_.asked.size(), 1u);
}

TEST_F(RdmaReferencesTest, WithoutAPlaceTheyComeInBlocksOfThePool) {
  Begin();
  Buffer message = Bytes(kLarge);
  const std::string expected = message.ToString();
  Send(client_, std::move(message));
  ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; }));
  EXPECT_TRUE(server_.came.ToString() == expected);
  EXPECT_EQ(reads("fakeB"), kReadsOfLarge);
}

TEST_F(RdmaReferencesTest, APlaceForAPartIsTakenAndTheRestAskedFor) {
  Begin();
  std::vector<Buffer> places;
  for (uint64_t i = 0; i < 3; ++i) places.push_back(Bytes(kLarge / 8, i));
  size_t given = 0;
  server_.place_for = [&](size_t, size_t) {
    return given == places.size() ? Buffer() : places[given++].Share();
  };
  Buffer message = Bytes(kLarge);
  const std::string expected = message.ToString();
  Send(client_, std::move(message));
  ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; }));
  EXPECT_TRUE(server_.came.ToString() == expected);
  EXPECT_EQ(server_.asked,
            (std::vector<std::pair<size_t, size_t>>{{0, kLarge},
                                                    {kLarge / 8, kLarge / 8 * 7},
                                                    {kLarge / 4, kLarge / 4 * 3},
                                                    {kLarge / 8 * 3, kLarge / 8 * 5}}));
  for (const Buffer& place : places) EXPECT_EQ(place.ToString().size(), kLarge / 8);
  EXPECT_TRUE(places[1].ToString() == expected.substr(kLarge / 8, kLarge / 8));
}

TEST_F(RdmaReferencesTest, APlaceThatTheDeviceDoesNotKnowIsNotUsed) {
  Begin();
  const std::string untouched(kLarge, 'u');
  const Buffer heap(untouched);
  server_.place_for = [&](size_t, size_t) { return heap.Share(); };
  Send(client_, Bytes(kLarge));
  ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; }));
  EXPECT_TRUE(heap.ToString() == untouched);
}

TEST_F(RdmaReferencesTest, MemoryIsGivenBackWhenItWasReadAndClosed) {
  Begin();
  bool released = false;
  Buffer message = Bytes(kLarge);
  const BlockRef block = message.slices().front().block;
  Send(client_, std::move(message));
  ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; }));
  released = Until([&] { return block.unique(); });
  EXPECT_TRUE(released);
  EXPECT_EQ(harness_->fabric().counters("fakeA").binds, 1u);
}

TEST_F(RdmaReferencesTest, WithoutAFreeWindowTheyWait) {
  Begin([](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    Change(fabric, rig);
    rig.rdma.read_window = 2;
  });
  const uint64_t before = harness_->fabric().counters("fakeA").messages_out;
  harness_->Run(*server_.loop, [&] { server_.connection->PauseRead(); });
  std::string expected;
  for (uint64_t i = 0; i < 8; ++i) {
    Buffer part = Bytes(kLarge, i);
    expected += part.ToString();
    Send(client_, std::move(part));
  }
  harness_->Settle();
  EXPECT_EQ(harness_->fabric().counters("fakeA").binds, 2u);
  EXPECT_EQ(harness_->fabric().counters("fakeA").messages_out, before + 2);
  EXPECT_EQ(reads("fakeB"), 0u) << "none is begun while reading is paused";
  harness_->Run(*server_.loop, [&] { server_.connection->ResumeRead(); });
  ASSERT_TRUE(Until([&] { return server_.came.size() == expected.size(); }));
  EXPECT_TRUE(server_.came.ToString() == expected);
  EXPECT_EQ(reads("fakeB"), 8 * kReadsOfLarge) << "nothing was sent instead";
}

// One at a time would leave the wire empty for as long as the way there and back takes. Of pieces
// of any size it is as many: 512 KiB are four READs, and the device does four here.
TEST_F(RdmaReferencesTest, SeveralReadsAreUnderWayAtATime) {
  constexpr size_t kPieces = 16;
  for (const uint32_t size : {2 * kLarge, kLarge, kLarge / 2, kLarge / 4}) {
    SCOPED_TRACE(size);
    Begin();
    const auto send = [&] {
      for (size_t i = 0; i < kPieces; ++i) Send(client_, Bytes(size, i));
    };
    // These get the sender as many credits as it can use.
    send();
    ASSERT_TRUE(Until([&] { return server_.came.size() == kPieces * size; }));
    harness_->Run(*server_.loop, [&] { server_.connection->PauseRead(); });
    send();
    harness_->Settle();
    harness_->Run(*server_.loop, [&] { server_.connection->ResumeRead(); });
    ASSERT_TRUE(Until([&] { return server_.came.size() == 2 * kPieces * size; }));
    EXPECT_EQ(reads("fakeB"), 2 * kPieces * std::max<uint64_t>(1, size / IncomingStream::kMaxRead));
    EXPECT_EQ(harness_->fabric().counters("fakeB").reads_at_once, 4u);
    TearDown();
    client_ = End();
    server_ = End();
  }
  Begin();
}

// A sender learns that its references were read, also from a peer whose own bytes are not taken.
TEST_F(RdmaReferencesTest, APausedReaderHearsThatItsOwnBytesWereRead) {
  Begin();
  const auto send_one_by_one = [&](End& end) {
    for (int i = 0; i < 200; ++i) {
      Send(end, Bytes(1));
      harness_->Settle();
    }
  };
  // So that it knows of many receives.
  send_one_by_one(client_);
  harness_->Run(*client_.loop, [&] { client_.connection->PauseRead(); });
  send_one_by_one(server_);
  EXPECT_GT(server_.connection->backlog(), 0u) << "the server has no credits left";
  Send(client_, Bytes(12 * kLarge));
  EXPECT_TRUE(Until([&] { return server_.came.size() == 200 + 12 * kLarge; }))
      << server_.came.size();
  harness_->Run(*client_.loop, [&] { client_.connection->ResumeRead(); });
  ASSERT_TRUE(Until([&] { return client_.came.size() == 200; }));
}

TEST_F(RdmaReferencesTest, AHandlerThatPausesGetsNoMoreThanItAskedFor) {
  Begin();
  server_.pause_after = 1;
  Send(client_, Bytes(kLarge, 1));
  ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; }));
  Send(client_, Bytes(kLarge, 2));
  harness_->Settle();
  EXPECT_EQ(server_.came.size(), kLarge);
  EXPECT_EQ(reads("fakeB"), kReadsOfLarge);
}

TEST_F(RdmaReferencesTest, AnOrderlyEndBringsEverything) {
  Begin();
  Buffer message = Bytes(3 * kLarge);
  const std::string expected = message.ToString();
  Send(client_, std::move(message));
  Close(client_, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return client_.closed && server_.closed; }));
  EXPECT_TRUE(server_.came.ToString() == expected);
  EXPECT_EQ(client_.why.message(), "done");
}

TEST_F(RdmaReferencesTest, BothEndsMayFlushAtOnce) {
  Begin();
  Send(client_, Bytes(kLarge));
  Send(server_, Bytes(kLarge));
  Close(client_, CloseMode::kFlush);
  Close(server_, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return client_.closed && server_.closed; }));
  EXPECT_EQ(client_.why.message(), "done");
  EXPECT_EQ(server_.why.message(), "done");
}

// Until a READ can write no more, OnClose waits, whatever ends the connection.
TEST_F(RdmaReferencesTest, NothingIsWrittenAfterOnClose) {
  for (const bool flushes : {true, false}) {
    for (const int how : {0, 1, 2}) {
      SCOPED_TRACE(absl::StrCat("flushes ", flushes, ", ended by ", how));
      Begin([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
        Change(fabric, rig);
        for (FakeDeviceOptions& device : fabric.devices) device.flushes = flushes;
      });
      kept_ = Bytes(kLarge, /*seed=*/9);
      const BlockRef& block = kept_.slices().front().block;
      server_.place_for = [this](size_t, size_t) { return kept_.Share(); };
      std::string at_close;
      server_.on_close = [&] {
        at_close = kept_.ToString();
        server_.came.Clear();
        EXPECT_TRUE(block.unique() || !flushes) << "a device that has flushed holds nothing";
      };
      Send(client_, Bytes(kLarge));
      ASSERT_TRUE(Until([&] { return reads("fakeB") > 0; }));
      if (how == 0) Close(server_, CloseMode::kAbort);
      if (how == 1) harness_->fabric().faults().RemoveDevice("fakeB", flushes);
      if (how == 2) Close(client_, CloseMode::kAbort);
      ASSERT_TRUE(Until([&] { return server_.closed; }));
      harness_->Settle();
      EXPECT_TRUE(kept_.ToString() == at_close);
      TearDown();
      client_ = End();
      server_ = End();
    }
  }
  Begin();
}

TEST_F(RdmaReferencesTest, ARegionIsNeverOpenItself) {
  Begin();
  EXPECT_EQ(harness_->fabric().counters("fakeA").remote_regions, 0u);
  EXPECT_EQ(harness_->fabric().counters("fakeB").remote_regions, 0u);
}

}  // namespace
}  // namespace farcall
