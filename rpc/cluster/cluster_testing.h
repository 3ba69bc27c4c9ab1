// SPDX-License-Identifier: Apache-2.0
//
// For the tests of calls through a cluster: servers that are the test's, on a loop that it turns
// by hand, in the time that it says. One thread.

#ifndef FARCALL_RPC_CLUSTER_CLUSTER_TESTING_H_
#define FARCALL_RPC_CLUSTER_CLUSTER_TESTING_H_

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/cluster/cluster.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/session/session_testing.h"

namespace farcall {

inline constexpr char kTwo[] = "list://192.0.2.1:80,192.0.2.2:80";
inline constexpr char kThree[] = "list://192.0.2.1:80,192.0.2.2:80,192.0.2.3:80";

// Without retries.
inline ChannelOptions OptionsOf(ConnectionType type) {
  ChannelOptions options;
  options.connection_type = type;
  options.max_retry = 0;
  return options;
}

// Of kTwo.
inline std::string OtherOf(const std::string& server) {
  return server == "192.0.2.1:80" ? "192.0.2.2:80" : "192.0.2.1:80";
}

// A request that came to a server of the test.
struct ArrivedRequest {
  std::string server;
  uint64_t id = 0;
  int32_t timeout_ms = 0;
  std::string payload;
};

class ClusterWorld {
 public:
  struct Call {
    Controller controller;
    int ends = 0;
  };
  // A connection that is open, by who is at the other end.
  struct Wire {
    std::string server;
    std::shared_ptr<FakeWire> end;
  };

  explicit ClusterWorld(const std::string& target, const ChannelOptions& options = {})
      : options_(options) {
    world.parts.sessions = &sessions;
    environment_ = std::make_shared<const CallEnvironment>(
        CallEnvironment{&world.clock, world.pool.get(), options.max_body_size, {}});
    cluster = Cluster::Create(std::make_shared<const Cluster::Environment>(
                                  Cluster::Environment{world.parts, options, nullptr}),
                              *world.loop, target);
    world.Run();  // names are known, or being looked up
  }
  ~ClusterWorld() {
    Retire();
    for (int i = 0; i < 20; ++i) {
      FailConnects();
      for (const Wire& wire : std::exchange(wires, {})) {
        wire.end->End(absl::UnavailableError("the end"));
      }
      Advance(std::chrono::seconds(1));
    }
    EXPECT_EQ(sessions.count(), 0) << "all sessions and clusters are gone";
    EXPECT_EQ(world.pool->stats().used_bytes, 0u) << "all blocks came home";
  }

  // `memory`: for the attachment of the answer.
  Call& Start(RoutedCall::Plan plan, Buffer memory = Buffer()) {
    const uint64_t id = cluster->NextCallId();
    Call& call = calls[id];
    call.controller.Begin(cluster.get(), id);
    call.controller.set_response_attachment_memory(std::move(memory));
    auto* const routed =
        new RoutedCall(environment_, *one::Echo::descriptor()->method(0), call.controller, nullptr,
                       NewClosure([&call] { ++call.ends; }));
    wire::RpcMeta meta;
    meta.mutable_request()->set_method_name("Say");
    meta.set_correlation_id(static_cast<int64_t>(id));
    one::Ping ping;
    ping.set_text(absl::StrCat("call ", id));
    routed->AskInterceptors(ping);
    const auto encoder = FrameEncoder::Create(meta, &ping, 0);
    std::string frame(encoder->head_size(), '\0');
    encoder->WriteTo(frame.data());
    routed->SetPlan(id, plan.deadline, plan);
    world.loop->RunOrPost(
        [cluster = cluster, routed, frame] { cluster->Start(*routed, frame, Buffer()); });
    return call;
  }
  Call& Start() { return Start(Plan()); }
  // Of a call as the options say.
  RoutedCall::Plan Plan() const {
    RoutedCall::Plan plan;
    plan.deadline = world.clock.Now() + std::chrono::milliseconds(options_.timeout_ms);
    plan.max_retry = options_.max_retry;
    if (options_.backup_request_ms >= 0) {
      plan.backup_after = std::chrono::milliseconds(options_.backup_request_ms);
    }
    plan.connection_type = options_.connection_type;
    return plan;
  }

  // Who waits for a connection now.
  std::vector<std::string> PendingConnects() const {
    std::vector<std::string> peers;
    for (const FakeTransport::Attempt& one : world.transport.attempts) {
      peers.push_back(one.peer.ToString());
    }
    return peers;
  }
  // All who wait for a connection get one, or none.
  void Connect(const ConnectionInfo& info = {}) {
    while (!world.transport.attempts.empty()) {
      const std::string peer = world.transport.attempts.front().peer.ToString();
      wires.push_back({peer, world.transport.Succeed(info)});
    }
    world.Run();
  }
  void FailConnects(const absl::Status& why = absl::UnavailableError("refused")) {
    const size_t waiting = world.transport.attempts.size();
    for (size_t i = 0; i < waiting; ++i) {
      world.transport.Fail(why);
    }
    world.Run();
  }
  // Those who wait for a connection to `server` get one, the others none.
  void ConnectOnlyTo(const std::string& server) {
    for (size_t waiting = world.transport.attempts.size(); waiting > 0; --waiting) {
      if (world.transport.attempts.front().peer.ToString() == server) {
        wires.push_back({server, world.transport.Succeed()});
      } else {
        world.transport.Fail(absl::UnavailableError("refused"));
      }
    }
    world.Run();
  }
  // The connections to a server, the oldest first.
  std::vector<std::shared_ptr<FakeWire>> WiresTo(const std::string& server) const {
    std::vector<std::shared_ptr<FakeWire>> ends;
    for (const Wire& wire : wires) {
      if (wire.server == server) ends.push_back(wire.end);
    }
    return ends;
  }
  // Of the nth server of the target, from 0.
  ServerSet::View View(size_t server) {
    ServerSet::View view;
    world.loop->RunOrPost([&] { view = cluster->Views().at(server); });
    return view;
  }
  // What came to all servers since the last time.
  std::vector<ArrivedRequest> Arrived() {
    std::vector<ArrivedRequest> arrived;
    for (const Wire& wire : wires) {
      for (const Frame& frame : wire.end->TakeFrames()) {
        arrived.push_back({wire.server, static_cast<uint64_t>(frame.meta.correlation_id()),
                           frame.meta.request().timeout_ms(), frame.payload.ToString()});
      }
    }
    return arrived;
  }
  // The only one.
  ArrivedRequest One() {
    const std::vector<ArrivedRequest> arrived = Arrived();
    EXPECT_EQ(arrived.size(), 1u);
    return arrived.empty() ? ArrivedRequest() : arrived.front();
  }
  static std::string FrameOfAnswer(const ArrivedRequest& request, int code = 0,
                                   const std::string& text = "",
                                   const std::string& attachment = "") {
    wire::RpcMeta meta;
    meta.mutable_response()->set_error_code(code);
    if (code != 0) meta.mutable_response()->set_error_text(text);
    meta.set_correlation_id(static_cast<int64_t>(request.id));
    const auto encoder = FrameEncoder::Create(meta, nullptr, attachment.size());
    std::string frame(encoder->head_size(), '\0');
    encoder->WriteTo(frame.data());
    return frame + attachment;
  }
  void Answer(const ArrivedRequest& request, int code = 0, const std::string& text = "") {
    const std::string frame = FrameOfAnswer(request, code, text);
    // On the newest connection: an older one may be closing.
    for (auto wire = wires.rbegin(); wire != wires.rend(); ++wire) {
      if (wire->server != request.server || wire->end->handler == nullptr) continue;
      wire->end->Deliver(frame);
      break;
    }
    world.Run();
  }
  // On each connection to that server, of which one awaits it.
  void AnswerOnAll(const ArrivedRequest& request, int code = 0) {
    for (const Wire& wire : wires) {
      if (wire.server == request.server) wire.end->Deliver(FrameOfAnswer(request, code, "no"));
    }
    world.Run();
  }
  // The connections to a server break.
  void Break(const std::string& server) {
    for (const Wire& wire : wires) {
      if (wire.server == server) wire.end->End(absl::UnavailableError("closed by peer"));
    }
    wires.erase(std::remove_if(wires.begin(), wires.end(),
                               [&](const Wire& wire) { return wire.server == server; }),
                wires.end());
    world.Run();
  }
  void Advance(Duration time) {
    world.clock.Advance(time);
    world.Run();
  }
  // As the destructor of a channel does.
  void Retire() {
    if (cluster == nullptr) return;
    world.loop->RunOrPost([cluster = cluster] { cluster->Retire(); });
    cluster = nullptr;
    world.Run();
  }

  SessionWorld world;
  InFlight sessions;
  std::map<uint64_t, Call> calls;
  std::vector<Wire> wires;
  std::shared_ptr<Cluster> cluster;

 private:
  const ChannelOptions options_;
  std::shared_ptr<const CallEnvironment> environment_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_CLUSTER_TESTING_H_
