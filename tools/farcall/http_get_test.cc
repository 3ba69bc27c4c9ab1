// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/http_get.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::cli {
namespace {

using boost::asio::ip::tcp;
using testing::HasSubstr;

constexpr std::chrono::seconds kTimeout{10};

// Answers one connection with some bytes, and closes it.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer)
      : acceptor_(context_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
        thread_([this, answer = std::move(answer)] {
          tcp::socket socket(context_);
          acceptor_.accept(socket);
          boost::asio::streambuf request;
          boost::asio::read_until(socket, request, "\r\n\r\n");
          request_.assign(boost::asio::buffers_begin(request.data()),
                          boost::asio::buffers_end(request.data()));
          boost::system::error_code error;
          boost::asio::write(socket, boost::asio::buffer(answer), error);
        }) {}
  ~OneAnswer() { Join(); }
  std::string target() const {
    return absl::StrCat("127.0.0.1:", acceptor_.local_endpoint().port());
  }
  const std::string& request() {
    Join();
    return request_;
  }

 private:
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  std::string request_;
  std::thread thread_;
};

absl::StatusOr<std::string> GetOf(const std::string& answer) {
  OneAnswer server(answer);
  return HttpGet(server.target(), "/status", kTimeout);
}

TEST(HttpGetTest, ReturnsTheBody) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  const auto body = HttpGet(server.target(), "/status?format=json", kTimeout);
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_EQ(*body, "{}");
  EXPECT_THAT(server.request(), HasSubstr("GET /status?format=json HTTP/1.1\r\n"));
  EXPECT_THAT(server.request(), HasSubstr(absl::StrCat("Host: ", server.target(), "\r\n")));
}

TEST(HttpGetTest, BodiesMayComeInChunksOrEndWithTheConnection) {
  EXPECT_EQ(*GetOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
            "abcde");
  EXPECT_EQ(*GetOf("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end"), "to the end");
}

TEST(HttpGetTest, AnotherStatusIsAnErrorWithItsText) {
  const auto body = GetOf("HTTP/1.1 404 Not Found\r\nContent-Length: 12\r\n\r\nno such page");
  EXPECT_EQ(body.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(body.status().message()), HasSubstr("404 no such page"));
}

TEST(HttpGetTest, WhatIsNoHttpOrCutShortIsAnError) {
  for (const char* answer : {"", "PRPC\0\0\0\0", "HTTP/1.1 200 OK\r\nContent-Le",
                             "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"}) {
    const auto body = GetOf(answer);
    EXPECT_EQ(body.status().code(), absl::StatusCode::kFailedPrecondition) << answer;
    EXPECT_THAT(std::string(body.status().message()), HasSubstr("was not answered by HTTP"));
  }
}

TEST(HttpGetTest, ASilentServerIsGivenUp) {
  boost::asio::io_context context;
  tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const std::string target = absl::StrCat("127.0.0.1:", acceptor.local_endpoint().port());
  const auto body = HttpGet(target, "/", std::chrono::milliseconds(50));
  EXPECT_EQ(body.status().code(), absl::StatusCode::kUnavailable) << body.status();
  EXPECT_THAT(std::string(body.status().message()), HasSubstr(target));
}

TEST(HttpGetTest, NobodyThereIsAnErrorWithTheTarget) {
  for (const char* target : {"127.0.0.1:1", "[::1]:1", "unix:/nonexistent/socket"}) {
    const auto body = HttpGet(target, "/", kTimeout);
    EXPECT_EQ(body.status().code(), absl::StatusCode::kUnavailable) << body.status();
    EXPECT_THAT(std::string(body.status().message()), HasSubstr(target));
  }
}

TEST(HttpGetTest, WhatIsNoTargetIsRefused) {
  for (const std::string& target : {std::string(), std::string("host"), std::string(":80"),
                                    std::string("host:"), "unix:/" + std::string(200, 'x')}) {
    EXPECT_EQ(HttpGet(target, "/", kTimeout).status().code(), absl::StatusCode::kInvalidArgument)
        << target;
  }
}

}  // namespace
}  // namespace farcall::cli
