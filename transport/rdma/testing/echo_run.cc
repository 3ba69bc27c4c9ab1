// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/echo_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

constexpr size_t kMessages[] = {10, 100 << 10, 300, 20 << 10, 1};
// Of the clock of the run: the machine may be slow.
constexpr Duration kLongest = std::chrono::seconds(10);

}  // namespace

EchoRun::EchoRun(SteppedRdmaHarness& harness, const Clock& clock, bool unheard)
    : harness_(harness),
      clock_(clock),
      unheard_(unheard),
      client_(std::make_shared<TestPeer>(harness, "client", 7, 7)),
      connected_(std::make_shared<std::optional<absl::Status>>()) {}

EchoRun::~EchoRun() {
  if (listener_ != nullptr) listener_->Close();
  client_->Destroy();
  for (const auto& server : servers_) server->Destroy();
  harness_.Settle();
}

absl::Status EchoRun::Go(absl::FunctionRef<void(int)> on_step) {
  on_step_ = &on_step;
  absl::Status status = Listen();
  if (status.ok()) status = Connect();
  if (!status.ok()) return status;
  size_t total = 0;
  for (const size_t bytes : kMessages) {
    client_->Send(bytes);
    total += bytes;
    const bool came = Until([&] { return client_->seen().received == total || Broken(); });
    if (!came) violations_.push_back("an echo did not come, and nothing broke");
    if (Broken()) break;
  }
  client_->Close(absl::CancelledError("done"), CloseMode::kFlush);
  bool over = Until([&] { return client_->over(); });
  if (unheard_) {
    for (const auto& server : servers_) {
      server->Close(absl::AbortedError("the client is gone"), CloseMode::kAbort);
    }
  }
  over &= Until([&] { return ServersOver(); });
  if (!over) violations_.push_back("it did not end");
  return client_->seen().received == total ? absl::OkStatus() : client_->seen().why;
}

absl::Status EchoRun::Listen() {
  auto listener = harness_.transport().Listen(
      harness_.loops(), harness_.FreeAddress(), ListenOptions(),
      [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
        auto server = std::make_shared<TestPeer>(harness_, "server", 7, 7);
        server->take = [](TestPeer& self, Buffer& input) {
          self.Write(input.CutFront(input.size()));
          return size_t{0};
        };
        server->Adopt(loop, std::move(connection));
        servers_.push_back(std::move(server));
      });
  if (!listener.ok()) return listener.status();
  listener_ = *std::move(listener);
  return absl::OkStatus();
}

absl::Status EchoRun::Connect() {
  EventLoop& loop = harness_.loops().at(0);
  ConnectOptions options;
  options.timeout = std::chrono::milliseconds(300);
  options.connection.close_timeout = std::chrono::milliseconds(300);
  harness_.Run(loop, [&] {
    harness_.transport().Connect(
        loop, listener_->address(), options,
        [client = client_, connected = connected_, &loop](auto connection) {
          *connected = connection.status();
          if (connection.ok()) client->Adopt(loop, *std::move(connection));
        });
  });
  if (!Until([&] { return connected_->has_value(); })) {
    violations_.push_back("OnConnect did not come");
    return absl::InternalError("OnConnect did not come");
  }
  return **connected_;
}

bool EchoRun::Until(absl::FunctionRef<bool()> done) {
  const TimePoint deadline = clock_.Now() + kLongest;
  while (!done()) {
    if (clock_.Now() > deadline) return false;
    (*on_step_)(++steps_);
    if (!harness_.Step()) std::this_thread::yield();
  }
  return true;
}

bool EchoRun::ServersOver() const {
  return std::all_of(servers_.begin(), servers_.end(),
                     [](const auto& server) { return server->over(); });
}

bool EchoRun::Broken() const {
  if (client_->over()) return true;
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const auto& server) { return server->over(); });
}

std::vector<std::string> EchoRun::Violations() const {
  std::vector<std::string> all = violations_;
  const auto add = [&](const TestPeer& peer) {
    const auto more = peer.violations();
    all.insert(all.end(), more.begin(), more.end());
    if (peer.seen().closes > 1) all.push_back("OnClose came twice");
  };
  add(*client_);
  for (const auto& server : servers_) add(*server);
  return all;
}

std::string EchoRun::Trace() const {
  std::string text = connected_->has_value() ? absl::StrCat((*connected_)->message(), "\n") : "";
  absl::StrAppend(&text, client_->seen().why.message(), "\n");
  for (const auto& server : servers_) absl::StrAppend(&text, server->seen().why.message(), "\n");
  return text;
}

}  // namespace farcall
