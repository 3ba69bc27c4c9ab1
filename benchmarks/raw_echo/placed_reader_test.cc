// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/placed_reader.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "gtest/gtest.h"
#include "transport/base/unique_fd.h"

namespace farcall::bench {
namespace {

std::string FrameOf(uint32_t id, size_t body) {
  FrameHeader header;
  header.length = static_cast<uint32_t>(body);
  header.id = id;
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         std::string(body, 'b');
}

class PlacedReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    near_ = UniqueFd(ends[0]);
    far_ = UniqueFd(ends[1]);
  }

  void Send(const std::string& bytes) {
    ASSERT_EQ(send(far_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  // Reads until nothing is left; the ids of whole frames.
  std::string Read() {
    std::string ids;
    FrameHeader header;
    while (reader_.Read(near_.get(), MSG_DONTWAIT) > 0) {
      if (reader_.Next(header)) ids += std::to_string(header.id) + " ";
    }
    return ids;
  }

  UniqueFd near_;
  UniqueFd far_;
  PlacedReader reader_{100};
};

TEST_F(PlacedReaderTest, FramesComeOneByOneThoughTheyWereSentTogether) {
  Send(FrameOf(1, 60) + FrameOf(2, 100) + FrameOf(3, 1));
  EXPECT_EQ(Read(), "1 2 3 ");
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(PlacedReaderTest, BytesMayComeSingly) {
  std::string ids;
  for (const char byte : FrameOf(1, 5) + FrameOf(2, 100)) {
    Send(std::string(1, byte));
    ids += Read();
  }
  EXPECT_EQ(ids, "1 2 ");
}

TEST_F(PlacedReaderTest, WhatHasNoPlaceIsAnError) {
  Send(FrameOf(1, 60) + FrameOf(2, 101));
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(errno, EMSGSIZE);
}

TEST_F(PlacedReaderTest, AnEmptyBodyIsAnError) {
  Send(FrameOf(1, 0));
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(errno, EMSGSIZE);
}

TEST_F(PlacedReaderTest, TheEndIsTold) {
  far_ = UniqueFd();
  EXPECT_EQ(reader_.Read(near_.get(), 0), 0);
}

}  // namespace
}  // namespace farcall::bench
