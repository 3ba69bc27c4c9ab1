// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <map>
#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/testing/conformance/conformance_checks.h"

namespace farcall {
namespace {

constexpr size_t kMany = 48;

// A listener that answers with the bytes that come, and connections to it.
class Crowd {
 public:
  explicit Crowd(ConformanceRun& run) : run_(run) {
    auto listener = run.harness.transport().Listen(
        run.harness.loops(), run.harness.FreeAddress(), ListenOptions(),
        [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
          Accept(loop, std::move(connection));
        });
    if (run.Expect(listener.ok(), "Listen works")) listener_ = *std::move(listener);
  }
  ~Crowd() {
    for (const auto& client : clients_) {
      client->Close(absl::CancelledError("the check is over"), CloseMode::kFlush);
    }
    if (listener_ != nullptr) listener_->Close();
    run_.Until("all end", [&] { return AllOver(clients_) && AllOver(Servers()); });
    for (const auto& peer : clients_) run_.Note(peer->violations());
    for (const auto& peer : Servers()) run_.Note(peer->violations());
  }

  using Peers = std::vector<std::shared_ptr<TestPeer>>;

  bool ok() const { return listener_ != nullptr; }
  Listener& listener() { return *listener_; }
  const Peers& clients() const { return clients_; }

  void Connect(EventLoop& loop) {
    const auto client = std::make_shared<TestPeer>(run_.harness, "client", 7, 7);
    const absl::Status connected =
        run_.TryConnect(listener_->address(), ConformanceRun::Patient(), loop,
                        [&](std::unique_ptr<Connection> connection) {
                          client->Adopt(loop, std::move(connection));
                        });
    run_.Expect(connected.ok(), absl::StrCat("Connect works: ", connected.ToString()));
    clients_.push_back(client);
  }

  Peers Servers() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return servers_;
  }

 private:
  void Accept(EventLoop& loop, std::unique_ptr<Connection> connection) {
    const auto server = std::make_shared<TestPeer>(run_.harness, "server", 7, 7);
    server->take = [](TestPeer& self, Buffer& input) {
      self.Write(input.CutFront(input.size()));
      return size_t{0};
    };
    server->Adopt(loop, std::move(connection));
    const std::lock_guard<std::mutex> lock(mutex_);
    servers_.push_back(server);
  }
  static bool AllOver(const Peers& peers) {
    for (const auto& peer : peers) {
      if (peer->seen().started && !peer->over()) return false;
    }
    return true;
  }

  ConformanceRun& run_;
  std::unique_ptr<Listener> listener_;
  Peers clients_;
  mutable std::mutex mutex_;
  Peers servers_;  // guarded by mutex_
};

bool AllEchoed(const Crowd& crowd) {
  for (const auto& client : crowd.clients()) {
    if (client->seen().received != client->sent()) return false;
  }
  return true;
}

void ManyConnectionsAtOnce(ConformanceRun& run) {
  Crowd crowd(run);
  if (!crowd.ok()) return;
  for (size_t i = 0; i < kMany; ++i) {
    crowd.Connect(run.harness.loops().at(i % run.harness.loops().size()));
  }
  for (const auto& client : crowd.clients()) {
    client->Send(run.random.Size(size_t{64} << 10));
    client->Send(run.random.Size(100));
  }
  run.Until("all is echoed", [&] { return AllEchoed(crowd); });
}

void AcceptedConnectionsAreSpread(ConformanceRun& run) {
  Crowd crowd(run);
  if (!crowd.ok()) return;
  const size_t loops = run.harness.loops().size();
  for (size_t i = 0; i < 4 * loops; ++i) crowd.Connect(run.harness.loops().at(0));
  run.Until("all are accepted", [&] { return crowd.Servers().size() == 4 * loops; });
  std::map<EventLoop*, int> counts;
  for (const auto& server : crowd.Servers()) ++counts[server->loop()];
  run.Expect(counts.size() == loops, "each loop has some");
  for (const auto& [loop, count] : counts) run.Expect(count == 4, "each loop has its share");
}

void ClosedListenerRefuses(ConformanceRun& run) {
  Crowd crowd(run);
  if (!crowd.ok()) return;
  crowd.Connect(run.harness.loops().at(0));
  run.Until("it is accepted", [&] { return crowd.Servers().size() == 1; });
  crowd.listener().Close();
  crowd.listener().Close();
  ConnectOptions options;
  options.timeout = std::chrono::milliseconds(200);
  const Address address = crowd.listener().address();
  const absl::Status status = run.TryConnect(address, options, run.harness.loops().at(0));
  run.Expect(!status.ok(), "a closed listener does not answer");
  run.Expect(absl::StrContains(status.message(), address.ToString()), "the error names the peer");
  run.harness.Settle();
  run.Expect(crowd.Servers().size() == 1, "no OnAccept after Close");
  crowd.clients()[0]->Send(1000);
  run.Until("connections live on", [&] { return AllEchoed(crowd); });
}

void AddressIsFreeAfterClose(ConformanceRun& run) {
  Crowd crowd(run);
  if (!crowd.ok()) return;
  crowd.Connect(run.harness.loops().at(0));
  run.Until("it is accepted", [&] { return crowd.Servers().size() == 1; });
  const auto ignore = [](EventLoop&, std::unique_ptr<Connection>) {};
  auto& transport = run.harness.transport();
  const Address address = crowd.listener().address();
  const auto taken = transport.Listen(run.harness.loops(), address, ListenOptions(), ignore);
  run.Expect(!taken.ok(), "one listener for each address");
  run.Expect(absl::StrContains(taken.status().message(), address.ToString()),
             "the error names the address");
  crowd.listener().Close();
  const auto again = transport.Listen(run.harness.loops(), address, ListenOptions(), ignore);
  run.Expect(again.ok(), absl::StrCat("free after Close: ", again.status().ToString()));
}

// Close may come at any moment of an accept.
void CloseWhileConnecting(ConformanceRun& run) {
  for (int i = 0; i < 10; ++i) {
    Crowd crowd(run);
    if (!crowd.ok()) return;
    EventLoop& loop = run.harness.loops().at(0);
    const Address address = crowd.listener().address();
    // Shared with OnConnect, which comes later than the check may end.
    const auto open = std::make_shared<std::atomic<int>>(3);
    run.harness.Run(loop, [&] {
      for (int k = 0; k < 3; ++k) {
        run.harness.transport().Connect(loop, address, ConnectOptions(),
                                        [open](const auto&) { --*open; });
      }
    });
    if (run.random.Chance(0.5)) run.harness.Settle();
    crowd.listener().Close();
    const size_t accepted = crowd.Servers().size();
    run.Until("each OnConnect comes", [&] { return *open == 0; });
    run.harness.Settle();
    run.Expect(crowd.Servers().size() == accepted, "no OnAccept after Close");
  }
}

void ListenValidatesItsOptions(ConformanceRun& run) {
  const auto ignore = [](EventLoop&, std::unique_ptr<Connection>) {};
  auto& transport = run.harness.transport();
  ListenOptions options;
  options.connection.traffic_class = 256;
  const auto bad =
      transport.Listen(run.harness.loops(), run.harness.FreeAddress(), options, ignore);
  run.Expect(absl::IsInvalidArgument(bad.status()), "the traffic class is validated");
  options = ListenOptions();
  options.backlog = 0;
  const auto none =
      transport.Listen(run.harness.loops(), run.harness.FreeAddress(), options, ignore);
  run.Expect(absl::IsInvalidArgument(none.status()), "the backlog is validated");
}

}  // namespace

std::vector<ConformanceCheck> ListenChecks() {
  return {
      {"ManyConnectionsAtOnce", ManyConnectionsAtOnce},
      {"AcceptedConnectionsAreSpread", AcceptedConnectionsAreSpread},
      {"ClosedListenerRefuses", ClosedListenerRefuses},
      {"AddressIsFreeAfterClose", AddressIsFreeAfterClose},
      {"CloseWhileConnecting", CloseWhileConnecting},
      {"ListenValidatesItsOptions", ListenValidatesItsOptions},
  };
}

}  // namespace farcall
