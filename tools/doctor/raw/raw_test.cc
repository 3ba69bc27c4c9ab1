// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/doctor/raw/raw_ends.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/sockaddr.h"

namespace farcall::doctor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLimit{10};

Address At(const std::string& ip, uint16_t port) {
  return Address::Parse(ip + ":" + std::to_string(port)).value();
}

// A listener that serves one client on a thread of its own.
struct Serving {
  explicit Serving(const VerbsApi& api, Duration whole = kLimit) : session(whole) {
    auto created = RawListener::Create(api, At("10.9.0.2", 0));
    EXPECT_TRUE(created.ok()) << created.status();
    listener = *std::move(created);
    address = At("10.9.0.2", listener->port());
    thread = std::thread([this] { result = listener->Serve({kLimit, session}, stop); });
  }
  ~Serving() {
    if (thread.joinable()) {
      EXPECT_FALSE(absl::IsDeadlineExceeded(Join()));
    }
  }
  absl::Status Join() {
    thread.join();
    return result;
  }

  const Duration session;
  std::unique_ptr<RawListener> listener;
  Address address;
  std::atomic<bool> stop{false};
  absl::Status result;
  std::thread thread;
};

TEST(RawTest, PingsAreAnsweredAndMessagesAcknowledged) {
  FakeFabric fabric;
  Serving serving(fabric.api());
  {
    auto client = RawClient::Connect(fabric.api(), serving.address, kLimit);
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_EQ((*client)->device(), "fakeA");
    const auto latency = (*client)->Ping(milliseconds(20));
    ASSERT_TRUE(latency.ok()) << latency.status();
    EXPECT_GE(latency->count(), 1u);
    const auto rate = (*client)->Stream(milliseconds(20));
    ASSERT_TRUE(rate.ok()) << rate.status();
    EXPECT_GT(*rate, 0);
  }
  EXPECT_TRUE(serving.Join().ok()) << serving.result;
  const FakeCounters sent = fabric.counters("fakeA");
  EXPECT_EQ(sent.rnrs, 0u) << "each message finds a receive";
  EXPECT_GE(sent.bytes_out, uint64_t{kAckEvery} * kMessage);
}

TEST(RawTest, NobodyListens) {
  FakeFabric fabric;
  const auto client = RawClient::Connect(fabric.api(), At("10.9.0.2", 999), kLimit);
  EXPECT_FALSE(client.ok());
}

TEST(RawTest, PortsThatTcpHasArePassedOver) {
  FakeFabric fabric;
  for (int nth = 1; nth < kPortTries; ++nth) {
    fabric.faults().FailCall("rdma_listen", nth, EADDRINUSE);
    fabric.faults().FailCall("rdma_connect", nth, EADDRINUSE);
  }
  Serving serving(fabric.api());
  auto client = RawClient::Connect(fabric.api(), serving.address, kLimit);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->Ping(milliseconds(1)).ok());
  client->reset();
  EXPECT_TRUE(serving.Join().ok()) << serving.result;
}

TEST(RawTest, PortsThatTcpHasAreToldOfInTheEnd) {
  FakeFabric fabric;
  fabric.faults().FailEvery("rdma_connect", EADDRINUSE);
  const auto client = RawClient::Connect(fabric.api(), At("10.9.0.2", 999), kLimit);
  EXPECT_EQ(client.status().message(), "rdma_connect: Address already in use");
  fabric.faults().FailEvery("rdma_listen", EADDRINUSE);
  const auto listener = RawListener::Create(fabric.api(), At("10.9.0.2", 0));
  EXPECT_EQ(listener.status().message(), "rdma_listen: Address already in use");
}

TEST(RawTest, AnAddressThatIsNoDevicesFails) {
  FakeFabric fabric;
  EXPECT_FALSE(RawListener::Create(fabric.api(), At("192.0.2.1", 0)).ok());
  EXPECT_FALSE(RawClient::Connect(fabric.api(), At("192.0.2.1", 999), kLimit).ok());
}

TEST(RawTest, AListenerWithoutAClientEndsInTime) {
  FakeFabric fabric;
  auto listener = RawListener::Create(fabric.api(), At("10.9.0.2", 0));
  ASSERT_TRUE(listener.ok());
  const std::atomic<bool> stop{false};
  const absl::Status served = (*listener)->Serve({milliseconds(1), kLimit}, stop);
  EXPECT_EQ(served.code(), absl::StatusCode::kDeadlineExceeded) << served;
}

TEST(RawTest, AnotherClientIsRefusedAndLeavesNothing) {
  FakeFabric fabric;
  Serving serving(fabric.api());
  auto client = RawClient::Connect(fabric.api(), serving.address, kLimit);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE(serving.listener->has_client());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(RawClient::Connect(fabric.api(), serving.address, kLimit).ok());
  }
  EXPECT_TRUE((*client)->Ping(milliseconds(1)).ok());
  client->reset();
  EXPECT_TRUE(serving.Join().ok()) << serving.result;
  serving.listener.reset();
  EXPECT_EQ(fabric.Leaks(), std::vector<std::string>());
}

TEST(RawTest, WhoWaitsForAnotherEventRefusesClientsToo) {
  FakeFabric fabric;
  const VerbsApi& api = fabric.api();
  {
    auto channel = CreateEventChannel(api).value();
    auto id = CreateCmId(api, channel.get(), nullptr).value();
    auto address = ToSocketAddress(At("10.9.0.2", 700)).value();
    ASSERT_EQ(api.rdma.bind_addr(id.get(), address.get()), 0);
    ASSERT_EQ(api.rdma.listen(id.get(), 1), 0);
    auto client = std::async(std::launch::async, [&api] {
      return RawClient::Connect(api, At("10.9.0.2", 700), kLimit).status();
    });
    while (client.wait_for(seconds(0)) != std::future_status::ready) {
      const auto event = AwaitEvent(api, channel.get(), RDMA_CM_EVENT_DISCONNECTED,
                                    std::chrono::steady_clock::now() + milliseconds(5));
      EXPECT_TRUE(absl::IsDeadlineExceeded(event.status())) << event.status();
    }
    EXPECT_FALSE(client.get().ok());
  }
  EXPECT_EQ(fabric.Leaks(), std::vector<std::string>());
}

// A driver may show the first message only when another one comes.
TEST(RawTest, AFirstPingWithoutAnAnswerIsFollowedByAnother) {
  FakeFabric fabric;
  const VerbsApi& api = fabric.api();
  const TimePoint deadline = Now() + kLimit;
  auto channel = CreateEventChannel(api).value();
  auto id = CreateCmId(api, channel.get(), nullptr).value();
  auto address = ToSocketAddress(At("10.9.0.2", 700)).value();
  ASSERT_EQ(api.rdma.bind_addr(id.get(), address.get()), 0);
  ASSERT_EQ(api.rdma.listen(id.get(), 1), 0);
  auto pinged = std::async(std::launch::async, [&api]() -> absl::Status {
    auto client = RawClient::Connect(api, At("10.9.0.2", 700), kLimit);
    return client.ok() ? (*client)->Ping(milliseconds(1)).status() : client.status();
  });
  auto request = AwaitEvent(api, channel.get(), RDMA_CM_EVENT_CONNECT_REQUEST, deadline);
  ASSERT_TRUE(request.ok()) << request.status();
  CmId accepted = Own(api, (*request)->id);
  request->reset();
  auto link = RawLink::Create(api, std::move(accepted)).value();
  rdma_conn_param param = RawParameters();
  ASSERT_EQ(api.rdma.accept(link->id(), &param), 0);
  // Two come before the first is answered, and then each is.
  uint32_t came = 0;
  uint32_t answered = 0;
  while (pinged.wait_for(seconds(0)) != std::future_status::ready && Now() < deadline) {
    const auto more = link->Poll();
    if (!more.ok()) break;  // the client has measured, and disconnected
    came += static_cast<uint32_t>(more->size());
    for (; came > 1 && answered < came; ++answered) ASSERT_TRUE(link->Send(kPing).ok());
  }
  EXPECT_TRUE(pinged.get().ok());
  EXPECT_GE(answered, 3u) << "two that begin, and one that is measured";
}

TEST(RawTest, ASessionEnds) {
  FakeFabric fabric;
  Serving serving(fabric.api(), milliseconds(1));
  // Where this thread is late, the session has ended before it was told of its beginning.
  const auto client = RawClient::Connect(fabric.api(), serving.address, kLimit);
  serving.thread.join();
  EXPECT_EQ(serving.result.code(), absl::StatusCode::kDeadlineExceeded) << serving.result;
  EXPECT_NE(serving.result.message().find("too long"), std::string::npos) << serving.result;
}

TEST(RawTest, AServerThatEndsIsNoticed) {
  FakeFabric fabric;
  Serving serving(fabric.api());
  auto client = RawClient::Connect(fabric.api(), serving.address, kLimit);
  ASSERT_TRUE(client.ok()) << client.status();
  serving.stop = true;
  EXPECT_EQ(serving.Join().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE((*client)->Ping(kLimit).ok());
}

TEST(RawTest, MemoryThatMayNotBeLockedIsNamed) {
  FakeFabricOptions options;
  options.devices[0].memlock = 1 << 20;
  FakeFabric fabric(options);
  const auto listener = RawListener::Create(fabric.api(), At("10.9.0.2", 0));
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto client = RawClient::Connect(fabric.api(), At("10.9.0.2", (*listener)->port()), kLimit);
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.status().message().find("ibv_reg_mr"), std::string::npos) << client.status();
}

}  // namespace
}  // namespace farcall::doctor
