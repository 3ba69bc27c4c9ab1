// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/http/http_testing.h"

namespace farcall {
namespace {

struct Sample {
  const char* bytes;
  const char* outcome;
};

// As they come in one piece. "continue" has a test of its own below.
constexpr Sample kSamples[] = {
    {"", ""},
    {"GET / HTTP/1.1\r\nHost: a\r\n", "more"},
    {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / Host=a []\n"},
    {"HEAD / HTTP/1.0\r\n\r\n", "HEAD / [] 1.0 close\n"},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / Connection=keep-alive [] 1.0\n"},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
     "GET / Connection=keep-alive Connection=close [] 1.0 close\n"},
    {"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade ,, Keep-Alive\r\n\r\n",
     "GET / Host=a Connection=upgrade ,, Keep-Alive []\n"},
    {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, x\r\n\r\n",
     "GET / Host=a Connection=close, x [] close\n"},
    {"GET /a%20b?c=d+e&f HTTP/1.1\r\nHost:\t a \t\r\n\r\n", "GET /a b ?c=d e ?f= Host=a []\n"},
    {"GET http://h:80/x?y HTTP/1.1\r\nhost: a\r\n\r\n", "GET /x ?y= host=a []\n"},
    {"OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n", "OPTIONS * Host= []\n"},
    {"POST /S/M HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
     "POST /S/M Host=a Content-Length=5 [hello]\n"},
    {"POST /S/M HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nhello", "more"},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
     "POST / Host=a Content-Length=0 []\n"},
    {"POST / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / Host=a []\n"},
    // Requests one after another, with the empty line that some clients send after a body.
    {"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx\r\nGET /2 HTTP/1.1\r\nHost: "
     "a\r\n\r\n"
     "GET /3 HTTP/1.1\r\nHost: a\r\n\r\nGE",
     "POST /1 Host=a Content-Length=1 [x]\nGET /2 Host=a []\nGET /3 Host=a []\nmore"},
    // Chunks.
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
     "POST / Host=a Transfer-Encoding=chunked []\nmore"},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
     "5\r\nhello\r\n00a;b=c;d=\"e f\"\r\n, world!!\r\r\n0;x\r\nTrail: er\r\n\r\n"
     "GET / HTTP/1.1\r\nHost: b\r\n\r\n",
     "POST / Host=a Transfer-Encoding=Chunked [hello, world!!\\r]\nGET / Host=b []\n"},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "more"},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n", "more"},
    // A body that looks like a request is a body.
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ",
     "POST / Host=a Content-Length=4 [GET ]\n"},
    {"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
     "POST / Host=a Expect=100-continue Content-Length=1 [x]\n"},
    {"GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
     "GET / Host=a Expect=100-continue []\n"},
    {"POST / HTTP/1.0\r\nExpect: magic\r\nContent-Length: 1\r\n\r\nx",
     "POST / Expect=magic Content-Length=1 [x] 1.0 close\n"},
};

class HttpReaderTest : public ::testing::Test {
 protected:
  const std::unique_ptr<BlockPool> pool_ = testing::SmallPool();
};

TEST_F(HttpReaderTest, SamplesInOnePiece) {
  for (const Sample& sample : kSamples) {
    EXPECT_EQ(testing::ReadAll(sample.bytes, 100'000, *pool_), sample.outcome) << sample.bytes;
  }
}

TEST_F(HttpReaderTest, SamplesInPiecesOfAnySize) {
  for (const Sample& sample : kSamples) {
    for (const size_t piece : {1, 2, 3, 5, 7, 11, 17, 40}) {
      std::string outcome = testing::ReadAll(sample.bytes, piece, *pool_);
      if (absl::StartsWith(outcome, "continue\n")) outcome.erase(0, 9);
      EXPECT_EQ(outcome, sample.outcome) << sample.bytes << " in pieces of " << piece;
    }
  }
}

TEST_F(HttpReaderTest, ExpectIsAnsweredOnceBeforeTheBodyComes) {
  const std::string head =
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
  EXPECT_EQ(testing::ReadAll(head, 1000, *pool_), "continue\nmore");
  EXPECT_EQ(testing::ReadAll(absl::StrCat(head, "ab"), 1, *pool_),
            "continue\nPOST / Host=a Expect=100-Continue Content-Length=2 [ab]\n");
  EXPECT_EQ(testing::ReadAll("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n",
                             1000, *pool_),
            "continue\nmore");
}

TEST_F(HttpReaderTest, TellsHowMuchABodyNeeds) {
  HttpReader reader(HttpLimits(), *pool_);
  Buffer input("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n1234");
  HttpRequest request;
  EXPECT_FALSE(reader.begun());
  EXPECT_EQ(reader.Read(input, request), HttpReader::Result::kMore);
  EXPECT_EQ(reader.need(), 100u);
  EXPECT_EQ(input.size(), 4u) << "the body waits in the input";
  EXPECT_TRUE(reader.begun());
  input.Append(absl::string_view(std::string(96, 'x')));
  EXPECT_EQ(reader.Read(input, request), HttpReader::Result::kRequest);
  EXPECT_EQ(request.body.size(), 100u);
  EXPECT_FALSE(reader.begun());
}

TEST_F(HttpReaderTest, ABodyOfKnownLengthIsNotCopied) {
  HttpReader reader(HttpLimits(), *pool_);
  const std::string bytes(5000, 'b');
  Buffer input("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n");
  input.AppendUserData(bytes.data(), bytes.size(), [] {});
  HttpRequest request;
  ASSERT_EQ(reader.Read(input, request), HttpReader::Result::kRequest);
  ASSERT_EQ(request.body.slices().size(), 1u);
  EXPECT_EQ(request.body.slices()[0].view().data(), bytes.data());
}

TEST_F(HttpReaderTest, TinyChunksAreCopiedTogether) {
  HttpReader reader(HttpLimits(), *pool_);
  Buffer input("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 4000; ++i) input.Append(absl::string_view("1\r\nx\r\n"));
  input.Append(absl::string_view("0\r\n\r\n"));
  HttpRequest request;
  ASSERT_EQ(reader.Read(input, request), HttpReader::Result::kRequest);
  EXPECT_EQ(request.body.ToString(), std::string(4000, 'x'));
  EXPECT_LT(request.body.slices().size(), 4u);
}

TEST_F(HttpReaderTest, LargeChunksAreNotCopied) {
  HttpReader reader(HttpLimits(), *pool_);
  const std::string bytes(5000, 'b');
  Buffer input("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n");
  input.AppendUserData(bytes.data(), bytes.size(), [] {});
  input.Append(absl::string_view("\r\n0\r\n\r\n"));
  HttpRequest request;
  ASSERT_EQ(reader.Read(input, request), HttpReader::Result::kRequest);
  ASSERT_EQ(request.body.slices().size(), 1u);
  EXPECT_EQ(request.body.slices()[0].view().data(), bytes.data());
}

TEST_F(HttpReaderTest, APoolAtItsLimitRefusesChunks) {
  std::vector<BlockRef> taken;
  for (BlockRef block; (block = pool_->Allocate(1));) taken.push_back(std::move(block));
  EXPECT_EQ(testing::ReadAll("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "1\r\nx\r\n0\r\n\r\n",
                             1000, *pool_),
            "503 there is no memory for the body (RuntimeOptions::pool.max_bytes)");
}

TEST_F(HttpReaderTest, RequestsDoNotMixTheirFields) {
  EXPECT_EQ(testing::ReadAll("GET /?a=b HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n"
                             "GET / HTTP/1.1\r\nHost: b\r\n\r\n",
                             1000, *pool_),
            "GET / ?a=b Host=a X=1 []\nGET / Host=b []\n");
}

}  // namespace
}  // namespace farcall
