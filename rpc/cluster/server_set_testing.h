// SPDX-License-Identifier: Apache-2.0
//
// A ServerSet at a time that the test moves.

#ifndef FARCALL_RPC_CLUSTER_SERVER_SET_TESTING_H_
#define FARCALL_RPC_CLUSTER_SERVER_SET_TESTING_H_

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

#include "rpc/cluster/server_set.h"

namespace farcall {

class ServerSetTest : public testing::Test {
 protected:
  using milliseconds = std::chrono::milliseconds;
  using seconds = std::chrono::seconds;
  using Outcome = ServerSet::Outcome;
  using ServerId = ServerSet::ServerId;
  using State = ServerSet::View::State;

  ServerSetTest() {
    options_.health_check_interval_ms = 100;
    options_.slow_start_ms = 1000;
    options_.circuit_breaker.window_calls = 10;
  }
  static ServerNode Node(uint16_t port, std::string tag = "", int weight = 1) {
    ServerNode node;
    node.address = Address::Ipv4({10, 0, 0, 1}, port);
    node.tag = std::move(tag);
    node.weight = weight;
    return node;
  }
  static std::vector<ServerNode> Nodes(uint16_t number) {
    std::vector<ServerNode> nodes;
    for (uint16_t port = 1; port <= number; ++port) nodes.push_back(Node(port));
    return nodes;
  }
  // The ids are 1 to `number`.
  void Make(uint16_t number) {
    set_ = std::make_unique<ServerSet>(options_, 1);
    EXPECT_EQ(set_->Update(Nodes(number), now_).added.size(), number);
  }
  ServerId Pick(std::vector<ServerId> tried = {}) {
    return set_->Pick(std::nullopt, tried, now_).value_or(0);
  }
  std::set<ServerId> Picked(int calls, const std::vector<ServerId>& tried = {}) {
    std::set<ServerId> picked;
    for (int i = 0; i < calls; ++i) picked.insert(Pick(tried));
    return picked;
  }
  void Calls(ServerId id, int calls, Outcome outcome, Duration latency = milliseconds(1)) {
    now_ += latency + std::chrono::microseconds(1);
    for (int i = 0; i < calls; ++i) {
      set_->OnStart(id);
      set_->OnEnd(id, outcome, latency, now_);
    }
  }
  ServerSet::View View(ServerId id) {
    for (const ServerSet::View& view : set_->Views(now_)) {
      if (view.id == id) return view;
    }
    ADD_FAILURE() << "there is no server " << id;
    return {};
  }
  void Fall(ServerId id) { set_->OnUnreachable(id, now_); }

  ChannelOptions options_;
  TimePoint now_{seconds(100)};
  std::unique_ptr<ServerSet> set_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_SERVER_SET_TESTING_H_
