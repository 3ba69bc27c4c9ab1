// SPDX-License-Identifier: Apache-2.0
//
// What the reader refuses: first of all the shapes by which one request is smuggled past somebody
// who reads it as two, or two as one.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/http/http_reader.h"
#include "rpc/http/http_testing.h"

namespace farcall {
namespace {

struct Shape {
  const char* what;
  std::string bytes;
  int status;
  const char* text;
};

std::string Post(absl::string_view fields, absl::string_view body) {
  return absl::StrCat("POST / HTTP/1.1\r\nHost: a\r\n", fields, "\r\n", body);
}
std::string Chunks(absl::string_view body) { return Post("Transfer-Encoding: chunked\r\n", body); }
std::string Nul(absl::string_view before, absl::string_view after) {
  return absl::StrCat(before, absl::string_view("\0", 1), after);
}

class HttpRefusalTest : public ::testing::Test {
 protected:
  void ExpectRefused(const Shape& shape, const HttpLimits& limits = {}) {
    for (const size_t piece : {size_t{1} << 20, size_t{1}, size_t{7}}) {
      const std::string outcome = testing::ReadAll(shape.bytes, piece, *pool_, limits);
      EXPECT_TRUE(absl::StartsWith(outcome, absl::StrCat(shape.status, " ")) ||
                  absl::StartsWith(outcome, absl::StrCat("continue\n", shape.status)))
          << shape.what << ", in pieces of " << piece << ": " << outcome;
      EXPECT_TRUE(absl::StrContains(outcome, shape.text))
          << shape.what << ", in pieces of " << piece << ": " << outcome;
    }
  }

  const std::unique_ptr<BlockPool> pool_ = testing::SmallPool();
};

TEST_F(HttpRefusalTest, WhereTheBodyEndsIsCertain) {
  const Shape shapes[] = {
      {"length, then coding",
       Post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400, "beside"},
      {"coding, then length",
       Post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n"), 400, "beside"},
      {"length beside a strange coding",
       Post("Transfer-Encoding: x\r\nContent-Length: 3\r\n", "abc"), 400, "beside"},
      {"two lengths", Post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400, "once"},
      {"the same length twice", Post("Content-Length: 3\r\ncontent-length: 3\r\n", "abc"), 400,
       "once"},
      {"a list of lengths", Post("Content-Length: 3, 3\r\n", "abc"), 400, "one number"},
      {"no length", Post("Content-Length:\r\n", "abc"), 400, "one number"},
      {"a length with a sign", Post("Content-Length: +3\r\n", "abc"), 400, "one number"},
      {"a negative length", Post("Content-Length: -3\r\n", "abc"), 400, "one number"},
      {"a hexadecimal length", Post("Content-Length: 0x3\r\n", "abc"), 400, "one number"},
      {"a length with a fraction", Post("Content-Length: 3.0\r\n", "abc"), 400, "one number"},
      {"a length in two parts", Post("Content-Length: 3 3\r\n", "abc"), 400, "one number"},
      {"a length beyond 64 bits", Post("Content-Length: 18446744073709551617\r\n", "abc"), 400,
       "one number"},
      {"a length of almost 64 bits", Post("Content-Length: 18446744073709551615\r\n", "abc"), 413,
       "larger than"},
      {"a coding that is no coding", Post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501,
       "chunked"},
      {"chunked, but not last", Post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), 501,
       "chunked"},
      {"compressed chunks", Post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501,
       "chunked"},
      {"identity", Post("Transfer-Encoding: identity\r\n", "abc"), 501, "chunked"},
      {"a coding in quotes", Post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 501,
       "chunked"},
      {"an empty coding", Post("Transfer-Encoding:\r\n", "0\r\n\r\n"), 501, "chunked"},
      {"a vertical tab before the coding", Post("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n"),
       400, "character"},
      {"two codings", Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "0\r\n\r\n"),
       400, "more than one"},
      {"two codings, the strange one first",
       Post("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400,
       "more than one"},
      {"chunks in HTTP/1.0",
       "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
       "HTTP/1.0"},
  };
  for (const Shape& shape : shapes) ExpectRefused(shape);
}

TEST_F(HttpRefusalTest, ChunksAreFramedAsTheyMust) {
  const Shape shapes[] = {
      {"no size", Chunks("\r\nabc"), 400, "chunk"},
      {"no hexadecimal size", Chunks("g\r\nabc"), 400, "chunk"},
      {"a negative size", Chunks("-1\r\nabc"), 400, "chunk"},
      {"a size with 0x", Chunks("0x3\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"space before the size", Chunks(" 3\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"space behind the size", Chunks("3 \r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"space before an extension", Chunks("3 ;a\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"a size of 64 bits and more", Chunks("10000000000000000\r\nabc"), 400, "chunk"},
      {"a size of almost 64 bits", Chunks("ffffffffffffffff\r\nabc"), 413, "larger than"},
      {"LF alone behind the size", Chunks("3\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"CR alone behind the size", Chunks("3\rabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"more data than the size says", Chunks("2\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"less data than the size says", Chunks("4\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"LF alone behind the data", Chunks("3\r\nabc\n0\r\n\r\n"), 400, "chunk"},
      {"an extension without a name", Chunks("3;\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"an extension of a value only", Chunks("3;=b\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"an extension without its value", Chunks("3;a=\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"an extension of two values", Chunks("3;a=b c\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"a quote that does not end", Chunks("3;a=\"b\\\"\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"LF in an extension", Chunks("3;a\nb\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"a quoted string over two lines", Chunks("3;a=\"\r\nabc\r\n\"\r\n0\r\n\r\n"), 400, "chunk"},
      {"NUL in an extension", Nul(Chunks("3;a"), "\r\nabc\r\n0\r\n\r\n"), 400, "chunk"},
      {"LF alone in the trailer", Chunks("0\r\nA: b\n\r\n"), 400, "chunk"},
      {"a folded trailer", Chunks("0\r\nA: b\r\n c\r\n\r\n"), 400, "chunk"},
      {"a trailer without a colon", Chunks("0\r\nA\r\n\r\n"), 400, "chunk"},
      {"a trailer without a name", Chunks("0\r\n: b\r\n\r\n"), 400, "chunk"},
      {"a trailer with space before the colon", Chunks("0\r\nA : b\r\n\r\n"), 400, "chunk"},
      {"a length in the trailer", Chunks("0\r\nContent-Length: 3\r\n\r\nabc"), 400, "chunk"},
      {"a coding in the trailer", Chunks("0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400, "chunk"},
  };
  for (const Shape& shape : shapes) ExpectRefused(shape);
}

TEST_F(HttpRefusalTest, TheHeadHasOneReading) {
  const Shape shapes[] = {
      {"LF alone", "GET / HTTP/1.1\nHost: a\n\n", 400, "version"},
      {"LF alone behind a field", "GET / HTTP/1.1\r\nHost: a\n\r\n", 400, "character"},
      {"CR alone behind a field", "GET / HTTP/1.1\r\nHost: a\rB: c\r\n\r\n", 400, "CR"},
      {"CR alone in front", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "CR"},
      {"two empty lines in front", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method"},
      {"LF in front", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method"},
      {"a folded field", "GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n d\r\n\r\n", 400, "folded"},
      {"a first field that is indented", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400, "folded"},
      {"space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "before the colon"},
      {"a tab before the colon", "GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", 400, "before the colon"},
      {"a field without a colon", "GET / HTTP/1.1\r\nHost: a\r\nB\r\n\r\n", 400, "character"},
      {"a field without a name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400, "character"},
      {"a name in brackets", "GET / HTTP/1.1\r\nHost: a\r\n[b]: c\r\n\r\n", 400, "character"},
      {"NUL in a value", Nul("GET / HTTP/1.1\r\nHost: a\r\nB: c", "d\r\n\r\n"), 400, "character"},
      {"NUL in a name", Nul("GET / HTTP/1.1\r\nHost: a\r\nB", ": c\r\n\r\n"), 400, "character"},
      {"NUL in the target", Nul("GET /", " HTTP/1.1\r\nHost: a\r\n\r\n"), 400, "target"},
      {"NUL in front", Nul("", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400, "method"},
      {"two spaces before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "target"},
      {"two spaces before the version", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400, "version"},
      {"space behind the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400, "version"},
      {"a tab for a space", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method"},
      {"no version, as in HTTP/0.9", "GET /\r\n\r\n", 400, "target"},
      {"a version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n", 400, "version"},
      {"a version without a number", "GET / HTTP/1\r\nHost: a\r\n\r\n", 400, "version"},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400, "Host"},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400, "Host"},
      {"a malformed Connection", "GET / HTTP/1.1\r\nHost: a\r\nConnection: a b\r\n\r\n", 400,
       "Connection"},
      {"a target in UTF-8", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "target"},
  };
  for (const Shape& shape : shapes) ExpectRefused(shape);
}

TEST_F(HttpRefusalTest, WhatIsNotSpokenHere) {
  const Shape shapes[] = {
      {"HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "HTTP/2.0"},
      {"a version to come", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505, "HTTP/1.2"},
      {"a proxy's request", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 501, "CONNECT"},
      {"an unknown method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501, "BREW"},
      {"a method in lower case", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 501, "get"},
      {"a method that does not end", std::string(100, 'A'), 501, "method"},
      {"an authority as target", "GET a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "proxy"},
      {"an asterisk with GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "proxy"},
      {"another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "proxy"},
      {"TLS", "\x16\x03\x01\x02", 400, "method"},
      {"another expectation", Post("Expect: magic\r\n", ""), 417, "100-continue"},
  };
  for (const Shape& shape : shapes) ExpectRefused(shape);
}

TEST_F(HttpRefusalTest, LimitsHoldBeforeTheRestHasCome) {
  const HttpLimits limits{.max_head_size = 600,
                          .max_target_size = 100,
                          .max_fields = 5,
                          .max_body_size = 10,
                          .max_chunk_extra = 20};
  std::string fields;
  for (int i = 0; i < 6; ++i) absl::StrAppend(&fields, "F", i, ": v\r\n");
  const Shape shapes[] = {
      {"a long target", absl::StrCat("GET /", std::string(100, 'a')), 414, "100 bytes"},
      {"a long value", absl::StrCat("GET / HTTP/1.1\r\nA: ", std::string(600, 'a')), 431,
       "600 bytes"},
      {"a long name", absl::StrCat("GET / HTTP/1.1\r\n", std::string(600, 'a')), 431, "600 bytes"},
      {"many fields", absl::StrCat("GET / HTTP/1.1\r\n", fields), 431, "5 header fields"},
      {"a long body", Post("Content-Length: 11\r\n", ""), 413, "10 bytes"},
      {"a long body that is asked for first",
       Post("Content-Length: 11\r\nExpect: 100-continue\r\n", ""), 413, "10 bytes"},
      {"a long chunk", Chunks("b\r\n"), 413, "10 bytes"},
      {"long chunks together", Chunks("6\r\n123456\r\n5\r\n"), 413, "10 bytes"},
      {"long extensions together", Chunks("1;aaaaaaaaaaaa\r\nx\r\n1;aaaaaaaaaaaa\r\n"), 431,
       "extensions"},
      {"a long trailer", Chunks("0\r\nA: 12345678901234567890\r\n\r\n"), 431, "trailer"},
      {"an endless size line", Chunks(absl::StrCat("1;", std::string(5000, 'a'))), 431, "too long"},
      {"an endless size", Chunks(std::string(5000, '0')), 431, "too long"},
      {"an endless trailer", Chunks(absl::StrCat("0\r\nA: ", std::string(5000, 'a'))), 431,
       "too long"},
  };
  for (const Shape& shape : shapes) ExpectRefused(shape, limits);
  ExpectRefused({"many parameters",
                 absl::StrCat(
                     "GET /?", std::string(200, '&'), "a&b&c&d",
                     [] {
                       std::string more;
                       for (int i = 0; i < 70; ++i) more += "&x";
                       return more;
                     }(),
                     " HTTP/1.1\r\nHost: a\r\n\r\n"),
                 400, "parameters"});
}

TEST_F(HttpRefusalTest, RequestsBeforeTheBadOneAreRead) {
  EXPECT_EQ(testing::ReadAll("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\n\r\n"
                             "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
                             1000, *pool_),
            "GET /1 Host=a []\n400 a request needs the field Host, once");
}

}  // namespace
}  // namespace farcall
