// SPDX-License-Identifier: Apache-2.0
//
// Two ends of a connection over a stand-in for devices, where the peer fetches large bytes.

#ifndef FARCALL_TRANSPORT_RDMA_RDMA_REFERENCES_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_RDMA_REFERENCES_TESTING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"
#include "transport/rdma/flow/incoming_stream.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/testing/test_random.h"

namespace farcall {

class RdmaReferencesTest : public testing::Test {
 protected:
  static constexpr uint32_t kLarge = 256 << 10;
  // It takes so many READs.
  static constexpr uint64_t kReadsOfLarge = kLarge / IncomingStream::kMaxRead;

  // Writes and reads by hand.
  class End final : public Connection::Handler {
   public:
    size_t OnRead(Buffer& input) override {
      ++reads;
      came.Append(input.CutFront(input.size()));
      if (pause_after > 0 && came.size() >= pause_after) connection->PauseRead();
      return 0;
    }
    Buffer PlaceFor(size_t ahead, size_t bytes) override {
      asked.push_back({ahead, bytes});
      if (!place_for) return {};
      return place_for(ahead, bytes);
    }
    void OnDrained() override {}
    void OnClose(const absl::Status& status) override {
      why = status;
      closed = true;
      if (on_close) on_close();
    }

    std::unique_ptr<Connection> connection;
    EventLoop* loop = nullptr;
    std::function<Buffer(size_t, size_t)> place_for;
    std::function<void()> on_close;
    size_t pause_after = 0;
    Buffer came;
    int reads = 0;
    std::vector<std::pair<size_t, size_t>> asked;
    bool closed = false;
    absl::Status why;
  };

  using Harness = OverFake<SteppedRdmaHarness>;

  static void Change(FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.read_at_least = 64 << 10;
    rig.rdma.read_window = 4;
  }

  void Begin(const FakeRdma::Change& change = Change) {
    listener_.reset();
    harness_.reset();
    harness_ = std::make_unique<Harness>(FakeMode::kStepped, change);
    auto listener = harness_->transport().Listen(
        harness_->loops(), harness_->FreeAddress(), ListenOptions(),
        [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
          server_.loop = &loop;
          server_.connection = std::move(connection);
          server_.connection->Start(server_);
        });
    ASSERT_TRUE(listener.ok());
    listener_ = *std::move(listener);
    Connect();
    harness_->Settle();
  }

  void Connect() {
    client_.loop = &harness_->loops().at(0);
    ConnectOptions patient;
    patient.timeout = std::chrono::seconds(60);
    harness_->Run(*client_.loop, [&] {
      harness_->transport().Connect(*client_.loop, listener_->address(), patient,
                                    [this](auto connection) {
                                      ASSERT_TRUE(connection.ok()) << connection.status();
                                      client_.connection = *std::move(connection);
                                      client_.connection->Start(client_);
                                    });
    });
    ASSERT_TRUE(Until([&] { return client_.connection && server_.connection; }));
  }

  void EndConnections() {
    for (End* const end : {&client_, &server_}) {
      if (end->connection == nullptr) continue;
      harness_->Run(*end->loop, [&] {
        end->connection.reset();
        end->came.Clear();
      });
    }
    harness_->Settle();
  }

  void TearDown() override {
    EndConnections();
    EndHarness();
  }
  void EndHarness() {
    listener_.reset();
    kept_.Clear();
    server_.place_for = nullptr;
    harness_->End();
    EXPECT_EQ(harness_->pool().stats().used_bytes, 0u);
  }

  bool Until(absl::FunctionRef<bool()> done) { return harness_->Until(done); }

  // Blocks of the pool, filled from a pattern, and known to the devices.
  Buffer Bytes(size_t size, uint64_t seed = 1) {
    TestRandom random(seed);
    Buffer out;
    while (out.size() < size) {
      BlockRef block = harness_->pool().Allocate(size - out.size());
      const auto length =
          static_cast<uint32_t>(std::min<size_t>(block->capacity, size - out.size()));
      for (uint32_t i = 0; i < length; ++i) {
        block->bytes()[i] = static_cast<char>(random.Below(256));
      }
      out.Append({std::move(block), 0, length});
    }
    harness_->DrainControl();
    return out;
  }
  void Send(End& end, Buffer data) {
    harness_->Run(*end.loop, [&] { end.connection->Write(std::move(data)); });
  }
  void Close(End& end, CloseMode mode) {
    harness_->Run(*end.loop, [&] { end.connection->Close(absl::CancelledError("done"), mode); });
  }
  uint64_t reads(const char* device) { return harness_->fabric().counters(device).reads; }

  End client_;
  End server_;
  Buffer kept_;
  std::unique_ptr<Harness> harness_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_RDMA_REFERENCES_TESTING_H_
