// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "transport/brpc/client_machine.h"
#include "transport/brpc/hello_testing.h"
#include "transport/brpc/server_machine.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using Server = BrpcServerMachine;
using Client = BrpcClientMachine;

struct Served {
  absl::Status status;
  std::string answer;
  std::string left;
  Server::State state = Server::State::kHello;
};

// Of a server that answers as soon as it can.
Served Serve(absl::string_view bytes, bool accept, size_t piece = 10'000) {
  Server server;
  Buffer input;
  Served served;
  while (!bytes.empty() && served.status.ok()) {
    input.Append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    served.status = server.OnRead(input).status();
    if (served.status.ok() && server.state() == Server::State::kAnswer) {
      served.answer = accept && server.hello().usable.ok() ? server.Accept(BrpcFixtureEnd())
                                                           : server.Refuse(BrpcRefusal::kFellBack);
      served.status = server.OnRead(input).status();
    }
  }
  served.left = input.ToString();
  served.state = server.state();
  return served;
}

TEST(BrpcServerMachineTest, WhoIsAcceptedDecides) {
  for (const size_t piece : {1, 3, 43, 1000}) {
    for (const std::string& hello : {BrpcSecondFixture(), BrpcThirdFixture()}) {
      const Served rdma = Serve(hello + BrpcBytes("00000001") + "x", true, piece);
      EXPECT_EQ(rdma.state, Server::State::kRdma) << rdma.status;
      EXPECT_EQ(rdma.answer, hello) << "in the version of the client";
      const Served plain = Serve(hello + BrpcBytes("00000000") + "PRPC", true, piece);
      EXPECT_EQ(plain.state, Server::State::kPlain);
      EXPECT_EQ(plain.left, "PRPC");
    }
  }
}

TEST(BrpcServerMachineTest, WhoIsRefusedStaysOnTcp) {
  EXPECT_EQ(Serve(BrpcSecondFixture() + BrpcBytes("00000000"), false).state, Server::State::kPlain);
  const Served wants = Serve(BrpcSecondFixture() + BrpcBytes("00000001"), false);
  EXPECT_TRUE(absl::StrContains(wants.status.message(), "although it was refused"));
}

TEST(BrpcServerMachineTest, TheAnswerDoesNotWaitForTheDecision) {
  EXPECT_EQ(Serve(BrpcSecondFixture(), true).state, Server::State::kAccepted);
  EXPECT_EQ(Serve(BrpcSecondFixture().substr(0, 39), true).answer, "");
}

TEST(BrpcServerMachineTest, MoreHellosAreAnError) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += BrpcSecondFixture();
  for (const bool accept : {false, true}) {
    const Served served = Serve(many, accept);
    EXPECT_TRUE(absl::StrContains(served.status.message(), "decision is 0x52444d41"))
        << served.status;
    EXPECT_EQ(served.answer.size(), 40u) << "one answer";
  }
}

TEST(BrpcServerMachineTest, WhatComesEarlyWaitsForTheAnswer) {
  Server server;
  Buffer input(BrpcSecondFixture() + BrpcBytes("00000001"));
  EXPECT_EQ(*server.OnRead(input), 0u);
  EXPECT_EQ(*server.OnRead(input), 0u);
  EXPECT_EQ(server.state(), Server::State::kAnswer);
  EXPECT_EQ(input.size(), 4u);
}

TEST(BrpcClientMachineTest, AnswersAndRefusals) {
  for (const BrpcVersion version : {BrpcVersion::kSecond, BrpcVersion::kThird}) {
    Client client(version);
    const std::string hello = client.Ask(BrpcFixtureEnd());
    EXPECT_EQ(hello, EncodeBrpcHello(version, BrpcFixtureEnd()));
    Buffer input(hello.substr(0, 20));
    EXPECT_GT(*client.OnRead(input), 20u);
    input.Append(hello.substr(20));
    EXPECT_EQ(*client.OnRead(input), 0u);
    EXPECT_EQ(client.state(), Client::State::kAnswered);
    EXPECT_EQ(client.Decide(true), BrpcBytes("00000001"));
    EXPECT_EQ(client.state(), Client::State::kRdma);

    Client refused(version);
    refused.Ask(BrpcFixtureEnd());
    Buffer refusal(EncodeBrpcRefusal(version, BrpcRefusal::kOff));
    EXPECT_EQ(*refused.OnRead(refusal), 0u);
    EXPECT_EQ(refused.state(), Client::State::kRefused);
    EXPECT_FALSE(refused.hello().usable.ok());
    EXPECT_EQ(refused.Decide(false), BrpcBytes("00000000"));
    EXPECT_EQ(refused.state(), Client::State::kPlain);
  }
}

TEST(BrpcClientMachineTest, WhatAServerMayNotSayIsAnError) {
  const auto hear = [](const std::string& bytes) {
    Client client(BrpcVersion::kSecond);
    client.Ask(BrpcFixtureEnd());
    Buffer input(bytes);
    return client.OnRead(input).status();
  };
  EXPECT_TRUE(absl::StrContains(hear(BrpcThirdFixture()).message(), "in another version"));
  EXPECT_TRUE(absl::StrContains(hear(BrpcSecondFixture() + "x").message(), "speaks before"));
  EXPECT_TRUE(absl::StrContains(hear("PRPC").message(), "no RDMA hello of brpc"));
  Client early(BrpcVersion::kSecond);
  Buffer byte(absl::string_view("R"));
  EXPECT_FALSE(early.OnRead(byte).ok());
}

// Both machines, with any pieces and any decisions.
TEST(BrpcMachinesTest, TheTwoEndsAgree) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    TestRandom random(seed);
    Client client(random.Chance(0.5) ? BrpcVersion::kSecond : BrpcVersion::kThird);
    Server server;
    const bool accept = random.Chance(0.6);
    const bool wants = random.Chance(0.7);
    std::string to_server = client.Ask(BrpcFixtureEnd()), to_client;
    Buffer at_server, at_client;
    bool decided = false;
    const auto pass = [&](std::string& from, Buffer& to) {
      const size_t bytes = std::min(from.size(), random.Size(48));
      to.Append(absl::string_view(from).substr(0, bytes));
      from.erase(0, bytes);
    };
    for (int i = 0; i < 400 && !server.done(); ++i) {
      pass(to_server, at_server);
      pass(to_client, at_client);
      ASSERT_TRUE(server.OnRead(at_server).ok());
      if (server.state() == Server::State::kAnswer && random.Chance(0.5)) {
        to_client +=
            accept ? server.Accept(BrpcFixtureEnd()) : server.Refuse(BrpcRefusal::kFellBack);
      }
      ASSERT_TRUE(client.OnRead(at_client).ok());
      const bool owes =
          client.state() == Client::State::kAnswered || client.state() == Client::State::kRefused;
      if (owes && !decided) {
        decided = true;
        to_server += client.Decide(wants && client.state() == Client::State::kAnswered);
      }
    }
    ASSERT_TRUE(server.done()) << seed;
    EXPECT_EQ(server.state() == Server::State::kRdma, accept && wants);
    EXPECT_EQ(client.state() == Client::State::kRdma, accept && wants);
  }
}

}  // namespace
}  // namespace farcall
