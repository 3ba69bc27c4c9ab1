// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_head_scanner.h"

#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(HttpHeadScannerTest, EndsBehindTheEmptyLine) {
  const HttpLimits limits;
  HttpHeadScanner scanner(limits);
  EXPECT_TRUE(scanner.Scan("GET / HTTP/1.1\r\nA: b\r\n\r\nthe body"));
  EXPECT_TRUE(scanner.complete());
  EXPECT_EQ(scanner.size(), 24u);
  EXPECT_EQ(scanner.blank(), 0u);
}

TEST(HttpHeadScannerTest, CountsAcrossPieces) {
  const HttpLimits limits;
  HttpHeadScanner scanner(limits);
  const std::string head = "\r\nGET / HTTP/1.1\r\n\r\n";
  for (size_t i = 0; i < head.size(); ++i) {
    EXPECT_EQ(scanner.size(), i);
    EXPECT_FALSE(scanner.complete());
    EXPECT_EQ(scanner.Scan(absl::string_view(&head[i], 1)), i + 1 == head.size());
  }
  EXPECT_TRUE(scanner.complete());
  EXPECT_EQ(scanner.blank(), 2u);
}

TEST(HttpHeadScannerTest, RefusesAtTheFirstByteThatShowsIt) {
  const HttpLimits limits;
  HttpHeadScanner scanner(limits);
  EXPECT_FALSE(scanner.Scan("GET / HTTP/1.1\r\nHost"));
  EXPECT_TRUE(scanner.Scan(" : a\r\n\r\n"));
  EXPECT_EQ(scanner.refusal().status, 400);
  EXPECT_EQ(scanner.size(), 21u);
  EXPECT_FALSE(scanner.complete());
}

TEST(HttpHeadScannerTest, ALimitIsReachedWithTheLastByteAllowed) {
  const std::string head = "GET / HTTP/1.1\r\nA: b\r\n\r\n";
  HttpHeadScanner fits({.max_head_size = head.size()});
  EXPECT_TRUE(fits.Scan(head));
  EXPECT_TRUE(fits.complete());
  HttpHeadScanner exceeds({.max_head_size = head.size() - 1});
  EXPECT_TRUE(exceeds.Scan(head));
  EXPECT_EQ(exceeds.refusal().status, 431);
}

}  // namespace
}  // namespace farcall
