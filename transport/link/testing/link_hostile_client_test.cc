// SPDX-License-Identifier: Apache-2.0
//
// Clients that break the rules of the link: each frame where it may not be. The connection ends,
// soon, with a text that names the rule; who is beside it notices nothing.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/link/hello/hello.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/testing/link_hostile_testing.h"
#include "transport/link/testing/raw_peer.h"

namespace farcall::hostile {
namespace {

using std::chrono::milliseconds;

class LinkHostileClientTest : public LinkHostileTest {
 protected:
  LinkHostileClientTest()
      : server_(std::make_unique<RawServer>(harness_, harness_.transport(), [](RawPeer& peer) {
          peer.on_read = [](RawPeer& self) { self.Send(std::exchange(self.received, "")); };
        })) {
    healthy_ = NewClient();
  }
  ~LinkHostileClientTest() override {
    // The one that was there before.
    EXPECT_TRUE(harness_.Until([&] {
      return healthy_->closed || absl::StrContains(healthy_->received, "still here") ||
             (std::exchange(asked_, true) ? false : (healthy_->Send(Data(0, "still here")), false));
    }));
    EXPECT_FALSE(healthy_->closed) << *healthy_->closed;
    healthy_.reset();
    server_.reset();
  }
  std::unique_ptr<RawPeer> NewClient() {
    auto client = RawPeer::Connect(harness_, harness_.tcp(), server_->address());
    client->Send(EncodeHello(MakeHello(1 << 16)));
    EXPECT_TRUE(harness_.Until([&] { return client->received.size() >= kHelloLeast; }));
    client->received.erase(0, kHelloLeast);
    return client;
  }
  // Sends `before`, whose effect arrives, then `test`.
  void ExpectClosed(const std::string& before, const Case& test) {
    const size_t mine = server_->peers.size();
    const auto client = NewClient();
    if (!before.empty()) {
      client->Send(before);
      WaitFor(milliseconds(10));
    }
    const auto& closed = server_->peers[mine]->closed;
    ASSERT_FALSE(closed) << test.name << ": " << *closed;
    client->Send(test.bytes);
    ASSERT_TRUE(Soon([&] { return closed && client->closed; }, milliseconds(100))) << test.name;
    EXPECT_TRUE(absl::StrContains(closed->message(), test.text)) << test.name << ": " << *closed;
  }

  std::unique_ptr<RawServer> server_;
  std::unique_ptr<RawPeer> healthy_;
  bool asked_ = false;
};

std::vector<Case> WrongFromAClient() {
  return {
      {"an offer", Bytes({.type = Type::kUpgradeOffer}), "a client makes no offers"},
      {"a decline", Bytes({.type = Type::kUpgradeDecline}), "a client makes no offers"},
      {"an ask that is none",
       Bytes({.type = Type::kUpgradeAsk, .payload = Buffer(absl::string_view("\xFF"))}),
       "malformed UPGRADE_ASK"},
      {"an ask for nothing", Bytes({.type = Type::kUpgradeAsk}), "without a generation"},
      {"an ask for a late one", Ask(7), "generation 7"},
  };
}

TEST_F(LinkHostileClientTest, WhatIsWrongInEveryState) {
  struct State {
    const char* name;
    std::string enter;
  };
  const State states[] = {
      {"linked", ""},
      {"offered", Ask(1)},
      {"given up", Ask(1) + Resume(1)},
      {"asked again", Ask(1) + Resume(1) + Ask(2)},
  };
  for (const State& state : states) {
    SCOPED_TRACE(state.name);
    for (const Case& test : AlwaysWrong()) ExpectClosed(state.enter, test);
    for (const Case& test : WrongFromAClient()) ExpectClosed(state.enter, test);
  }
}

TEST_F(LinkHostileClientTest, WhatWasSaidOnceIsNotSaidAgain) {
  ExpectClosed(Ask(1), {"the same ask", Ask(1), "asks for generation 1, and 2 is the next"});
  ExpectClosed(Ask(1) + Resume(1), {"the same RESUME", Resume(1), "RESUME of generation 1"});
  ExpectClosed(Ask(1) + Resume(1) + Ask(2) + Resume(2),
               {"an earlier RESUME", Resume(1), "RESUME of generation 1"});
  ExpectClosed(Ask(1),
               {"RESUME of bytes that were not sent", Resume(1, 10), "RESUME at offset 10"});
}

// Each ask costs the server a token, a posted task and an answer.
TEST_F(LinkHostileClientTest, AsksWithoutEndAreCutOff) {
  std::string flood;
  for (uint32_t i = 1; i <= 1000; ++i) flood += Ask(i) + Resume(i);
  ExpectClosed("", {"at once", flood, "more than 8 UPGRADE_ASK faster than one in 250 ms"});

  const size_t mine = server_->peers.size();
  const auto client = NewClient();
  uint32_t asks = 0;
  while (!server_->peers[mine]->closed && asks < 1000) {
    ++asks;
    client->Send(Ask(asks) + Resume(asks));
    WaitFor(milliseconds(100));
  }
  EXPECT_LE(asks, 20u) << "ten a second are too many too";
}

TEST_F(LinkHostileClientTest, AsksAtThePaceOfAClientAreAnsweredForEver) {
  const size_t mine = server_->peers.size();
  const auto client = NewClient();
  for (uint32_t i = 1; i <= 60; ++i) {
    client->Send(Ask(i));
    ASSERT_TRUE(harness_.Until([&] {
      return server_->peers[mine]->closed ||
             absl::StrContains(client->received, std::string("\4\0\0\0", 4));
    }));
    ASSERT_FALSE(server_->peers[mine]->closed) << *server_->peers[mine]->closed;
    client->received.clear();
    client->Send(Resume(i));
    WaitFor(milliseconds(500));
  }
}

// A handler that reads nothing for a while, and then tells in how many pieces it got what came.
class LateReader final : private Connection::Handler {
 public:
  explicit LateReader(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {
    connection_->Start(*this);
    connection_->PauseRead();
  }
  Connection& connection() { return *connection_; }
  size_t pieces = 0;
  std::string read;

 private:
  size_t OnRead(Buffer& input) override {
    pieces = input.slices().size();
    read += input.ToString();
    input.Clear();
    return 0;
  }
  void OnDrained() override {}
  void OnClose(const absl::Status&) override {}

  const std::unique_ptr<Connection> connection_;
};

// What waits keeps the blocks that it stands in: of single bytes, each in a frame of its own, a
// window's worth would be hundreds of times the window.
TEST_F(LinkHostileTest, SingleBytesTakeNoMoreThanTheyAre) {
  std::unique_ptr<LateReader> reader;
  EventLoop* loop = nullptr;
  auto listener =
      harness_.transport().Listen(harness_.loops(), harness_.FreeAddress(), ListenOptions(),
                                  [&](EventLoop& of, std::unique_ptr<Connection> connection) {
                                    loop = &of;
                                    reader = std::make_unique<LateReader>(std::move(connection));
                                  });
  ASSERT_TRUE(listener.ok());
  auto client = RawPeer::Connect(harness_, harness_.tcp(), (*listener)->address());
  client->Send(EncodeHello(MakeHello(1 << 16)));
  std::string sent;
  for (int i = 0; i < 2000; ++i) {
    sent.push_back(static_cast<char>('a' + i % 26));
    client->Send(Data(static_cast<uint64_t>(i), sent.substr(sent.size() - 1)));
  }
  WaitFor(milliseconds(100));
  ASSERT_NE(reader, nullptr);
  harness_.Run(*loop, [&] { reader->connection().ResumeRead(); });
  EXPECT_TRUE(harness_.Until([&] { return reader->read.size() == sent.size(); }));
  EXPECT_EQ(reader->read, sent);
  EXPECT_LE(reader->pieces, 40u);
  harness_.Run(*loop, [&] { reader.reset(); });
  client.reset();
}

}  // namespace
}  // namespace farcall::hostile
