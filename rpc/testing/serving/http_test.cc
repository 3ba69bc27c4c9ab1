// SPDX-License-Identifier: Apache-2.0
//
// HTTP beside baidu_std on one port, by curl and by sockets.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

constexpr char kEcho[] = "/farcall.test.TestService/Echo";

std::string Message(absl::string_view text) { return absl::StrCat("{\"message\":\"", text, "\"}"); }

// "200 the body" of what curl gets.
std::string CurlAnswer(const std::string& arguments) {
  return Curl(absl::StrCat("-w ' %{http_code}' ", arguments)).value_or("curl failed");
}

TEST(HttpTest, CurlCallsAMethod) {
  TestServer server;
  EXPECT_EQ(CurlAnswer("-d '{\"message\":\"hi\"}' " + server.address() + "/TestService/Echo"),
            "{\"message\":\"hi\"} 200");
  EXPECT_EQ(CurlAnswer("-d '{\"message\":\"h\\u00e4\"}' -H 'Content-Type: application/json' " +
                       server.address() + kEcho),
            "{\"message\":\"h\xc3\xa4\"} 200");
  EXPECT_EQ(CurlAnswer(server.address() + "/TestService/Idle"), "{} 200");
}

TEST(HttpTest, CurlIsToldWhatIsWrong) {
  TestServer server;
  const std::string at = server.address();
  EXPECT_EQ(CurlAnswer(at + "/health"), "OK\n 200");
  EXPECT_EQ(
      CurlAnswer("-I " + at + "/health"),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n\r\n"
      " 200");
  const struct {
    std::string arguments;
    int status;
    const char* part;
  } samples[] = {
      {at + "/", 200, "/farcall.test.TestService/Echo"},
      {at + "/nothing", 404, "/ lists"},
      {at + "/TestService/Nothing", 404, "ENOMETHOD"},
      {"-d '{\"text\":1}' " + at + kEcho, 400, "text"},
      {"-d '{}' " + at + kEcho, 400, "message"},
      {"-d '{' " + at + kEcho, 400, "EREQUEST"},
      {"-T /dev/null " + at + kEcho, 405, "GET, POST"},
      {"-d x -H 'Content-Type: text/html' " + at + kEcho, 415, "application/json"},
      {"-d '{\"message\":\"hi\"}' -H 'Origin: http://evil.example' " + at + kEcho, 403,
       "a page of another site"},
      {"-H 'x-farcall-timeout-ms: soon' -d '{}' " + at + kEcho, 400, "milliseconds"},
      {absl::StrCat("-H 'X: ", std::string(20'000, 'x'), "' ", at, "/health"), 431, "bytes"},
      {absl::StrCat(at, "/", std::string(9'000, 'x')), 414, "bytes"},
  };
  for (const auto& sample : samples) {
    const std::string answer = CurlAnswer(sample.arguments);
    EXPECT_TRUE(absl::EndsWith(answer, absl::StrCat(" ", sample.status)))
        << sample.arguments.substr(0, 200) << ": " << answer;
    EXPECT_TRUE(absl::StrContains(answer, sample.part)) << answer;
  }
}

TEST(HttpTest, LargeBodiesInBothDirections) {
  TempDir dir;
  const std::string file = dir.path() + "/request";
  FILE* const out = ::fopen(file.c_str(), "w");
  ASSERT_NE(out, nullptr);
  const std::string request = Message(std::string(3'000'000, 'm'));
  ASSERT_EQ(::fwrite(request.data(), 1, request.size(), out), request.size());
  ASSERT_EQ(::fclose(out), 0);
  TestServer server;
  // Of this size curl waits for "100 Continue" first.
  EXPECT_EQ(CurlAnswer("--data-binary @" + file + " " + server.address() + kEcho),
            request + " 200");
  EXPECT_EQ(CurlAnswer("-H 'Transfer-Encoding: chunked' --data-binary @" + file + " " +
                       server.address() + kEcho),
            request + " 200");
  ServerOptions small;
  small.max_body_size = 1024;
  TestServer tight(EchoBack, small);
  EXPECT_TRUE(
      absl::EndsWith(CurlAnswer("--data-binary @" + file + " " + tight.address() + kEcho), " 413"));
}

TEST(HttpTest, AUnixSocketWill) {
  TempDir dir;
  const std::string path = dir.path() + "/socket";
  TestServer server(EchoBack, {}, "unix:" + path);
  EXPECT_EQ(CurlAnswer("--unix-socket " + path + " -d '" + Message("hi") + "' http://any" + kEcho),
            "{\"message\":\"hi\"} 200");
}

TEST(HttpTest, OneConnectionCarriesManyRequests) {
  TestServer server;
  HttpPeer peer(server.address());
  for (int i = 0; i < 20; ++i) {
    const auto answer = peer.Ask(HttpPost(kEcho, Message(absl::StrCat("call ", i))));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, Message(absl::StrCat("call ", i)));
  }
  std::string pipelined;
  for (int i = 0; i < 20; ++i) pipelined += HttpPost(kEcho, Message(absl::StrCat("next ", i)));
  ASSERT_TRUE(peer.Send(pipelined));
  for (int i = 0; i < 20; ++i) {
    const auto answer = peer.Receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->body, Message(absl::StrCat("next ", i)));
  }
  ASSERT_TRUE(peer.Ask(HttpGet("/health", "Connection: close\r\n")).has_value());
  EXPECT_TRUE(peer.WaitForEnd());
}

TEST(HttpTest, HttpAndFramesAtOnce) {
  TestServer server;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      HttpPeer peer(server.address());
      for (int i = 0; i < 200; ++i) {
        const std::string message = Message(absl::StrCat(t, ".", i));
        const auto answer = peer.Ask(HttpPost(kEcho, message));
        if (!answer.has_value() || answer->body != message) ++wrong;
      }
    });
    threads.emplace_back([&] {
      TestClient client(server.address());
      for (int i = 0; i < 200; ++i) {
        TestCall call;
        if (!call.Call(client.channel()).Echoed()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(server.log().All(), "");
}

TEST(HttpTest, HandlersOnTheLoopWillToo) {
  TestServer server(EchoBack, Inline());
  HttpPeer peer(server.address());
  const auto answer = peer.Ask(HttpPost(kEcho, Message("hi")) + HttpGet("/health"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body, Message("hi"));
  ASSERT_TRUE(peer.Receive().has_value());
}

TEST(HttpTest, WithoutHttpItIsNoFrame) {
  ServerOptions options;
  options.http = false;
  TestServer server(EchoBack, options);
  HttpPeer peer(server.address());
  ASSERT_TRUE(peer.Send(HttpGet("/health")));
  EXPECT_TRUE(peer.WaitForEnd());
  peer.Close();
  EXPECT_TRUE(server.log().Wait("no RPC frame"));
}

}  // namespace
}  // namespace farcall
