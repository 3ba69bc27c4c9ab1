// SPDX-License-Identifier: Apache-2.0
//
// An end that stood still for longer than a silent peer is borne with (a stopped process, a paused
// virtual machine, a handler that held up its loop): when it goes on, what the peer said meanwhile
// waits in the socket. Over real sockets, in the time that the test says.

#include <sys/eventfd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "transport/base/clock.h"
#include "transport/base/unique_fd.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/link_transport.h"
#include "transport/link/testing/sim_upgrade.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/tcp/tcp_transport.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A completion queue that may bring work in each turn.
class Completions final : public PollSource {
 public:
  bool Poll() override { return busy; }
  bool Arm() override { return !busy; }
  void Disarm() override {}
  int fd() const override { return fd_.get(); }
  bool busy = false;

 private:
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class Peer final : public Connection::Handler {
 public:
  void Own(std::unique_ptr<Connection> made) {
    connection = std::move(made);
    connection->Start(*this);
  }
  size_t OnRead(Buffer& input) override {
    received += input.size();
    input.Clear();
    return 0;
  }
  void OnDrained() override {}
  void OnClose(const absl::Status& status) override {
    why = status;
    connection.reset();
  }
  std::unique_ptr<Connection> connection;
  size_t received = 0;
  absl::Status why;
};

class LinkStallTest : public testing::Test {
 protected:
  LinkStallTest() {
    listener_ = *link_.Listen(
        servers_, Address::Ipv4({127, 0, 0, 1}, 0), ListenOptions(),
        [this](EventLoop&, std::unique_ptr<Connection> made) { server_.Own(std::move(made)); });
    OnClient([this] {
      link_.Connect(*client_loop_, listener_->address(), ConnectOptions(), [this](auto made) {
        ASSERT_TRUE(made.ok()) << made.status();
        client_.Own(*std::move(made));
      });
    });
    for (int i = 0; i < 10'000 && client_.connection == nullptr; ++i) Turn(1);
    EXPECT_NE(client_.connection, nullptr);
    Turn(50);
    OnClient([this] { EXPECT_TRUE(client_loop_->AddSource(completions_).ok()); });
  }
  ~LinkStallTest() override {
    OnClient([this] {
      client_loop_->RemoveSource(completions_);
      client_.connection.reset();
    });
    OnServer([this] { server_.connection.reset(); });
    listener_->Close();
    // What the link and the network have still to do with it.
    for (int i = 0; i < 50; ++i) {
      Turn(1);
      clock_.Advance(seconds(1));
    }
  }

  // The lifeline alone carries the stream.
  static SimUpgradeOptions NoCapacity() {
    SimUpgradeOptions options;
    options.no_capacity = 1;
    return options;
  }
  void OnClient(const std::function<void()>& work) { EXPECT_TRUE(client_loop_->TryRun(work)); }
  void OnServer(const std::function<void()>& work) { EXPECT_TRUE(server_loop_->TryRun(work)); }
  static void Step(EventLoop& loop, int turns) {
    for (int i = 0; i < turns; ++i) loop.RunOnce();
  }
  void Turn(int turns) {
    for (int i = 0; i < turns; ++i) {
      client_loop_->RunOnce();
      server_loop_->RunOnce();
    }
  }
  // What is not acknowledged makes the client ask for a sign of life in the next turns.
  void MakeAPingDue() {
    OnClient([this] { client_.connection->Write(Buffer(absl::string_view("hello"))); });
    clock_.Advance(milliseconds(100));
  }
  void Write(Peer& peer, size_t bytes) { peer.connection->Write(Buffer(std::string(bytes, 'x'))); }

  ManualClock clock_;
  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create({});
  std::unique_ptr<EventLoop> client_loop_ = *EventLoop::Create(clock_);
  std::unique_ptr<EventLoop> server_loop_ = *EventLoop::Create(clock_);
  LoopGroup servers_{{server_loop_.get()}};
  TcpTransport tcp_{*pool_, {}};
  SimFabric fabric_{NoCapacity()};
  SimUpgrade rdma_{fabric_, *pool_};
  UpgradeRecord record_{{}};
  LinkTransport link_{tcp_, &rdma_, record_, UpgradeOptions()};
  Completions completions_;
  Peer client_;
  Peer server_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(LinkStallTest, AnAnswerThatWaitsInTheSocketCounts) {
  for (const bool busy : {false, true}) {
    // Wherever the loop is between two looks at descriptors.
    for (int turns = 0; turns < 8; ++turns) {
      completions_.busy = busy;
      MakeAPingDue();
      Step(*client_loop_, 8 + turns);
      Step(*server_loop_, 20);
      clock_.Advance(seconds(11));
      Step(*client_loop_, 20);
      ASSERT_NE(client_.connection, nullptr)
          << client_.why << (busy ? ", busy" : ", idle") << " with completions, " << turns;
      completions_.busy = false;
      Turn(20);
    }
  }
}

// More than is read in a turn, and a frame that is longer than that.
TEST_F(LinkStallTest, AnAnswerBehindManyBytesCounts) {
  OnServer([this] { Write(server_, size_t{2} << 20); });
  MakeAPingDue();
  Step(*client_loop_, 2);
  Step(*server_loop_, 20);
  clock_.Advance(seconds(11));
  Step(*client_loop_, 2);
  EXPECT_NE(client_.connection, nullptr) << client_.why;
}

// As a handler does that runs inline: what the loop writes in that turn leaves after it.
TEST_F(LinkStallTest, NobodyIsAccusedOfNotAnsweringWhatHasNotLeft) {
  struct Stall final : UserTask {
    explicit Stall(ManualClock& time) : clock(time) {}
    void Run() override { clock.Advance(seconds(11)); }
    ManualClock& clock;
  } stall(clock_);
  MakeAPingDue();
  OnClient([&] { client_loop_->RunUser(stall); });
  Step(*client_loop_, 2);
  ASSERT_NE(client_.connection, nullptr) << client_.why;
  Step(*server_loop_, 20);
  clock_.Advance(seconds(9));
  Step(*client_loop_, 2);
  EXPECT_NE(client_.connection, nullptr) << client_.why;
}

TEST_F(LinkStallTest, APeerThatSaysNothingIsStillGivenUp) {
  MakeAPingDue();
  Step(*client_loop_, 10);
  clock_.Advance(seconds(11));
  Step(*client_loop_, 20);
  EXPECT_EQ(client_.connection, nullptr);
  EXPECT_EQ(client_.why.code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace farcall
