// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/incoming_stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using Read = IncomingStream::Read;

Buffer Memory(uint32_t bytes) { return Buffer(std::string(bytes, '?')); }

RemoteBytes At(uint64_t address, uint32_t length) {
  return {.address = address, .key = 7, .length = length};
}

// What a device would do for it: the bytes of the stream lie at their address.
void Carry(const Read& read, const std::string& stream) {
  uint64_t from = read.address;
  for (uint32_t i = 0; i < read.segment_count; ++i) {
    const Buffer::Slice& slice = read.segments[i];
    std::memcpy(slice.block->data + slice.offset, stream.data() + from, slice.length);
    from += slice.length;
  }
}

std::string Taken(IncomingStream& in) {
  Buffer& input = in.Take();
  std::string bytes = input.ToString();
  input.Clear();
  return bytes;
}

TEST(IncomingStreamTest, BytesAloneAreHereAtOnce) {
  IncomingStream in(4);
  in.Tail().Append("ab");
  in.Tail().Append("cd");
  EXPECT_TRUE(in.clear());
  EXPECT_EQ(Taken(in), "abcd");
  EXPECT_FALSE(in.has_bytes());
}

TEST(IncomingStreamTest, WhatStandsBehindAReferenceWaits) {
  const std::string stream = "..fetched";
  IncomingStream in(4);
  ASSERT_TRUE(in.AddReference(At(2, 7)).ok());
  in.Tail().Append("after");
  EXPECT_FALSE(in.clear());
  EXPECT_FALSE(in.has_bytes());

  const auto place = in.NextToPlace();
  ASSERT_TRUE(place);
  EXPECT_EQ(place->ahead, 0u);
  EXPECT_EQ(place->bytes, 7u);
  Read read;
  EXPECT_FALSE(in.NextRead(4, read)) << "it has no memory";
  in.SetPlace(Memory(7));
  EXPECT_FALSE(in.NextToPlace());
  ASSERT_TRUE(in.NextRead(4, read));
  EXPECT_EQ(read.address, 2u);
  EXPECT_EQ(read.key, 7u);
  EXPECT_EQ(read.bytes, 7u);
  EXPECT_EQ(in.reading(), 1u);
  EXPECT_FALSE(in.NextRead(4, read)) << "once";

  EXPECT_FALSE(in.has_bytes());
  EXPECT_EQ(in.read(), 0u);
  Carry(read, stream);
  EXPECT_EQ(in.OnRead(true), 7u);
  EXPECT_EQ(in.read(), 1u);
  EXPECT_TRUE(in.clear());
  EXPECT_EQ(Taken(in), "fetchedafter");
}

TEST(IncomingStreamTest, MemoryIsAskedForWhenWhatStandsBeforeWasTaken) {
  IncomingStream in(4);
  in.Tail().Append("header");
  ASSERT_TRUE(in.AddReference(At(0, 10)).ok());
  ASSERT_TRUE(in.AddReference(At(10, 20)).ok());
  in.Tail().Append("between");
  ASSERT_TRUE(in.AddReference(At(30, 5)).ok());
  EXPECT_FALSE(in.NextToPlace()) << "the header was not read";
  Taken(in);
  // In parts, as far as there is a place.
  in.SetPlace(Memory(4));
  EXPECT_EQ(in.NextToPlace()->ahead, 4u);
  EXPECT_EQ(in.NextToPlace()->bytes, 6u);
  in.SetPlace(Memory(6));
  EXPECT_EQ(in.NextToPlace()->ahead, 10u);
  EXPECT_EQ(in.NextToPlace()->bytes, 20u);
  in.SetPlace(Memory(20));
  EXPECT_FALSE(in.NextToPlace()) << "what is between was not read";

  Read read;
  while (in.NextRead(8, read)) {
  }
  EXPECT_EQ(in.reading(), 2u);
  in.OnRead(true);
  in.OnRead(true);
  EXPECT_FALSE(in.NextToPlace());
  EXPECT_EQ(Taken(in).size(), 37u);
  EXPECT_EQ(in.NextToPlace()->ahead, 0u);
  EXPECT_EQ(in.NextToPlace()->bytes, 5u);
}

TEST(IncomingStreamTest, MoreMemoryThanAReadHasSegmentsTakesSeveral) {
  IncomingStream in(4);
  ASSERT_TRUE(in.AddReference(At(100, 25)).ok());
  Buffer memory;
  for (int i = 0; i < 5; ++i) memory.Append(Memory(5));
  in.SetPlace(std::move(memory));
  Read read;
  ASSERT_TRUE(in.NextRead(2, read));
  EXPECT_EQ(read.segment_count, 2u);
  EXPECT_EQ(read.bytes, 10u);
  ASSERT_TRUE(in.NextRead(2, read));
  EXPECT_EQ(read.address, 110u);
  ASSERT_TRUE(in.NextRead(2, read));
  EXPECT_EQ(read.address, 120u);
  EXPECT_EQ(read.bytes, 5u);
  EXPECT_FALSE(in.NextRead(2, read));
  in.OnRead(true);
  in.OnRead(true);
  EXPECT_EQ(in.read(), 0u);
  in.OnRead(true);
  EXPECT_EQ(in.read(), 1u);
}

// Whatever the pieces of its memory are: each READ is full but the last.
TEST(IncomingStreamTest, ALargeReferenceTakesSeveralReads) {
  constexpr uint32_t kMax = IncomingStream::kMaxRead;
  constexpr uint32_t kAll = 3 * kMax + 100;
  std::string stream(kAll, '\0');
  TestRandom random(1);
  for (char& c : stream) c = static_cast<char>(random.Below(256));
  for (const uint32_t piece : {kAll, kMax, kMax / 2, kMax / 3}) {
    SCOPED_TRACE(piece);
    IncomingStream in(4);
    ASSERT_TRUE(in.AddReference(At(0, kAll)).ok());
    for (uint32_t left = kAll; left > 0; left -= std::min(left, piece)) {
      in.SetPlace(Memory(std::min(left, piece)));
    }
    std::vector<Read> posted;
    for (Read read; in.NextRead(IncomingStream::kMaxSegments, read);) posted.push_back(read);
    ASSERT_EQ(posted.size(), 4u);
    EXPECT_EQ(in.reading_bytes(), kAll);
    for (size_t i = 0; i < posted.size(); ++i) {
      EXPECT_EQ(posted[i].address, i * kMax);
      EXPECT_EQ(posted[i].bytes, i < 3 ? kMax : 100);
      Carry(posted[i], stream);
    }
    for (const Read& read : posted) {
      EXPECT_FALSE(in.has_bytes());
      EXPECT_EQ(in.OnRead(true), read.bytes);
    }
    EXPECT_EQ(in.read(), 1u);
    EXPECT_TRUE(Taken(in) == stream);
  }
}

TEST(IncomingStreamTest, MoreReferencesThanThePeerHasWindowsAreAnError) {
  IncomingStream in(2);
  EXPECT_TRUE(in.AddReference(At(0, 1)).ok());
  EXPECT_TRUE(in.AddReference(At(0, 1)).ok());
  EXPECT_THAT(in.AddReference(At(0, 1)).message(),
              ::testing::HasSubstr("more references than the 2"));
  EXPECT_FALSE(IncomingStream(0).AddReference(At(0, 1)).ok());
}

TEST(IncomingStreamTest, AfterAReadThatFailedNothingComes) {
  IncomingStream in(2);
  ASSERT_TRUE(in.AddReference(At(0, 3)).ok());
  ASSERT_TRUE(in.AddReference(At(3, 3)).ok());
  in.SetPlace(Memory(3));
  in.SetPlace(Memory(3));
  Read read;
  while (in.NextRead(8, read)) {
  }
  EXPECT_EQ(in.OnRead(false), 0u);
  EXPECT_EQ(in.OnRead(true), 0u);
  EXPECT_EQ(in.reading(), 0u);
  EXPECT_FALSE(in.has_bytes());
  EXPECT_FALSE(in.clear());
}

// A device goes on with the READs that were posted, also after one of them has failed.
TEST(IncomingStreamTest, MemoryIsHeldUntilTheLastReadIsOver) {
  IncomingStream in(3);
  std::vector<std::weak_ptr<int>> held;
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(in.AddReference(At(3 * i, 3)).ok());
    auto hold = std::make_shared<int>(0);
    held.push_back(hold);
    in.SetPlace(Memory(3), std::move(hold));
  }
  const auto holds = [&] {
    return std::count_if(held.begin(), held.end(),
                         [](const auto& each) { return !each.expired(); });
  };
  Read read;
  while (in.NextRead(8, read)) {
  }
  EXPECT_EQ(in.reading(), 3u);
  in.OnRead(true);
  EXPECT_EQ(holds(), 2) << "the first is whole";
  in.OnRead(false);
  EXPECT_EQ(holds(), 2) << "one is under way";
  in.OnRead(false);
  EXPECT_EQ(holds(), 0);
}

TEST(IncomingStreamTest, WhatIsNotWantedCountsAsReadInItsTurn) {
  IncomingStream in(4);
  ASSERT_TRUE(in.AddReference(At(0, 3)).ok());
  ASSERT_TRUE(in.AddReference(At(3, 3)).ok());
  in.Tail().Append("end");
  in.SetPlace(Memory(3));
  Read read;
  ASSERT_TRUE(in.NextRead(8, read));
  in.DropUnread();
  EXPECT_EQ(in.read(), 0u) << "the first is being read";
  EXPECT_FALSE(in.NextToPlace());
  EXPECT_FALSE(in.NextRead(8, read));
  in.OnRead(true);
  EXPECT_EQ(in.read(), 2u);
  EXPECT_TRUE(in.clear());
}

// A peer that cuts a stream into bytes and references as it likes, and a device and a user that
// take their time: what is taken is the stream.
TEST(IncomingStreamTest, TheStreamComesInItsOrder) {
  for (uint64_t seed = 0; seed < SeedsHere(300); ++seed) {
    SCOPED_TRACE(seed);
    TestRandom random(seed);
    std::string stream(2000 + random.Below(2000), '\0');
    for (char& c : stream) c = static_cast<char>(random.Below(256));
    const auto windows = static_cast<uint32_t>(1 + random.Below(5));
    IncomingStream in(windows);
    std::string taken;
    std::deque<Read> posted;
    size_t sent = 0;
    uint64_t references = 0;
    while (taken.size() < stream.size()) {
      const auto some =
          static_cast<uint32_t>(std::min<uint64_t>(1 + random.Below(200), stream.size() - sent));
      switch (random.Below(5)) {
        case 0:
          if (some == 0) break;
          in.Tail().Append(absl::string_view(stream).substr(sent, some));
          sent += some;
          break;
        case 1:
          if (some == 0 || references - in.read() == windows) break;
          ASSERT_TRUE(in.AddReference(At(sent, some)).ok());
          ++references;
          sent += some;
          break;
        case 2: {
          const auto place = in.NextToPlace();
          if (!place) break;
          ASSERT_LE(taken.size() + place->ahead + place->bytes, sent);
          in.SetPlace(Memory(static_cast<uint32_t>(1 + random.Below(place->bytes))));
          break;
        }
        case 3: {
          Read read;
          if (in.NextRead(1 + random.Below(3), read)) posted.push_back(read);
          if (posted.empty() || random.Below(2) == 0) break;
          Carry(posted.front(), stream);
          EXPECT_EQ(in.OnRead(true), posted.front().bytes);
          posted.pop_front();
          break;
        }
        default:
          taken += Taken(in);
          ASSERT_EQ(taken, stream.substr(0, taken.size()));
      }
    }
    EXPECT_TRUE(in.clear());
    EXPECT_EQ(in.read(), references);
    EXPECT_EQ(in.reading(), 0u);
  }
}

}  // namespace
}  // namespace farcall
