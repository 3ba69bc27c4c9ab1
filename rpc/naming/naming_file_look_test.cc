// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_file_look.h"

#include <gtest/gtest.h>

#include <string>

#include "rpc/naming/naming_testing.h"

namespace farcall {
namespace {

using What = NamingFileLook::Result::What;
using std::chrono::milliseconds;
using std::chrono::seconds;

class NamingFileLookTest : public ::testing::Test {
 protected:
  // Of the file as it is. `age`: how long ago it was written.
  NamingFileLook::Result LookAt(std::chrono::nanoseconds age) {
    struct stat status {};
    EXPECT_EQ(::stat(files_.Path("servers").c_str(), &status), 0);
    const NamingFileLook::WallTime written(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
    return look_.Look(written + age);
  }

  TestDirectory files_;
  NamingFileLook look_{files_.Path("servers")};
};

TEST_F(NamingFileLookTest, TheFirstIsTakenHoweverYoung) {
  files_.Write("servers", "a:1\n");
  const auto first = LookAt(milliseconds(0));
  EXPECT_EQ(first.what, What::kRead);
  EXPECT_EQ(Text(first.nodes), "a:1");
}

TEST_F(NamingFileLookTest, AYoungChangeMayBeHalfWrittenAndWaits) {
  files_.Write("servers", "a:1\n");
  EXPECT_EQ(LookAt(milliseconds(0)).what, What::kRead);
  files_.Write("servers", "a:80", seconds(50));  // of "a:8002"
  EXPECT_EQ(LookAt(milliseconds(0)).what, What::kYoung);
  EXPECT_EQ(LookAt(milliseconds(99)).what, What::kYoung);
  files_.Write("servers", "a:8002", seconds(50));
  const auto settled = LookAt(milliseconds(100));
  EXPECT_EQ(settled.what, What::kRead);
  EXPECT_EQ(Text(settled.nodes), "a:8002");
}

TEST_F(NamingFileLookTest, AFileFromTheFutureIsTaken) {
  files_.Write("servers", "a:1\n");
  EXPECT_EQ(LookAt(milliseconds(0)).what, What::kRead);
  files_.Write("servers", "b:1\n", seconds(-1000));
  EXPECT_EQ(Text(LookAt(seconds(-1000)).nodes), "b:1");
}

// Times have a grain: what is written just after a look may bear the same.
TEST_F(NamingFileLookTest, AFileIsReadAgainUntilItsTimeIsSurelyPast) {
  files_.Write("servers", "a:1\n", seconds(0));
  EXPECT_EQ(LookAt(seconds(1)).what, What::kRead);
  EXPECT_EQ(LookAt(seconds(1)).what, What::kRead);
  EXPECT_EQ(LookAt(seconds(50)).what, What::kRead);
  EXPECT_EQ(LookAt(seconds(50)).what, What::kSame) << "now it is known";
}

TEST_F(NamingFileLookTest, AnotherFileOfTheSameSizeAndTimeIsSeen) {
  files_.Write("servers", "a:1\n", seconds(0));
  struct stat status {};
  ASSERT_EQ(::stat(files_.Path("servers").c_str(), &status), 0);
  EXPECT_EQ(LookAt(seconds(50)).what, What::kRead);
  files_.Write("new", "b:1\n", seconds(0));
  const timespec times[] = {status.st_mtim, status.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, files_.Path("new").c_str(), times, 0), 0);
  files_.Rename("new", "servers");
  EXPECT_EQ(Text(LookAt(seconds(50)).nodes), "b:1");
}

TEST_F(NamingFileLookTest, AFailureIsLookedAtEachTime) {
  files_.Write("servers", "a:1\n", seconds(0));
  EXPECT_EQ(LookAt(seconds(50)).what, What::kRead);
  files_.Write("servers", "a:\n", seconds(0));
  for (int i = 0; i < 3; ++i) {
    const auto bad = LookAt(seconds(50));
    EXPECT_EQ(bad.what, What::kRead);
    EXPECT_FALSE(bad.nodes.ok());
  }
}

}  // namespace
}  // namespace farcall
