// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/socket_writer.h"

#include <cerrno>
#include <string>

#include "gtest/gtest.h"
#include "transport/tcp/testing/socket_pair.h"

namespace farcall {
namespace {

constexpr size_t kPlenty = size_t{64} << 20;

TEST(SocketWriterTest, ManySlicesLeaveInOneCall) {
  SocketPair pair = SocketPair::Unix();
  SocketWriter writer;
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const std::string part(static_cast<size_t>(1 + i), static_cast<char>('a' + i % 26));
    writer.Append(Buffer(absl::string_view(part)));
    all += part;
  }
  EXPECT_EQ(writer.backlog(), all.size());
  const SocketResult result = writer.Write(pair.mine.get(), kPlenty);
  EXPECT_EQ(result.progress, SocketProgress::kMore);
  EXPECT_EQ(result.bytes, all.size());
  EXPECT_EQ(writer.backlog(), 0u);
  EXPECT_EQ(ReceiveAll(pair.other.get()), all);
}

TEST(SocketWriterTest, AFullSocketKeepsTheRest) {
  SocketPair pair = SocketPair::Unix();
  SocketWriter writer;
  const std::string all(size_t{8} << 20, 'x');
  writer.Append(Buffer(absl::string_view(all)));
  size_t received = 0;
  while (writer.backlog() > 0) {
    const SocketResult result = writer.Write(pair.mine.get(), kPlenty);
    ASSERT_NE(result.progress, SocketProgress::kFailed);
    const size_t some = ReceiveAll(pair.other.get()).size();
    EXPECT_EQ(some, result.bytes);
    received += some;
    ASSERT_EQ(received + writer.backlog(), all.size());
  }
}

TEST(SocketWriterTest, NothingGoesBeyondTheLimit) {
  SocketPair pair = SocketPair::Unix();
  SocketWriter writer;
  writer.Append(Buffer(absl::string_view("hello")));
  writer.Append(Buffer(absl::string_view("world")));
  const SocketResult result = writer.Write(pair.mine.get(), 7);
  EXPECT_EQ(result.progress, SocketProgress::kMore);
  EXPECT_EQ(ReceiveAll(pair.other.get()), "hellowo");
  EXPECT_EQ(writer.backlog(), 3u);
  writer.Clear();
  EXPECT_EQ(writer.backlog(), 0u);
}

TEST(SocketWriterTest, ABrokenPipeIsAnErrorAndNoSignal) {
  SocketPair pair = SocketPair::Unix();
  SocketWriter writer;
  pair.other.Reset();
  writer.Append(Buffer(absl::string_view("hello")));
  const SocketResult result = writer.Write(pair.mine.get(), kPlenty);
  EXPECT_EQ(result.progress, SocketProgress::kFailed);
  EXPECT_EQ(result.error, EPIPE);
}

}  // namespace
}  // namespace farcall
