// SPDX-License-Identifier: Apache-2.0
//
// Calls while RDMA goes and comes: each is executed once and answered once.

#include <errno.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

constexpr size_t kUnderWay = 160;
constexpr size_t kLarge = size_t{100} << 10;  // two blocks

// How often each call was executed. Any thread.
class Executed {
 public:
  EchoHandler Handler() {
    return [this](Controller& controller, const test::EchoRequest& request,
                  test::EchoResponse& response, google::protobuf::Closure* done) {
      if (request.message() != kWhere) Count(request.message());
      EchoOrWhere(controller, request, response, done);
    };
  }
  // Ids of calls that were not executed once, of the first `calls`.
  std::vector<std::string> Wrong(int calls) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> wrong;
    for (int i = 0; i < calls; ++i) {
      const int times = times_[std::to_string(i)];
      if (times != 1) wrong.push_back(absl::StrCat(i, " executed ", times, " times"));
    }
    return wrong;
  }

 private:
  void Count(const std::string& id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++times_[id];
  }

  std::mutex mutex_;
  std::map<std::string, int> times_;  // guarded by mutex_
};

// Keeps kUnderWay calls under way, whose messages count up from 0. One thread.
class Load {
 public:
  explicit Load(Channel& channel) : channel_(channel), large_(PatternBytes(kLarge)) {}

  // Until `calls` more have ended; false: one did not, or wrongly.
  [[nodiscard]] bool Go(int calls) {
    for (int i = 0; i < calls; ++i) {
      while (under_way_.size() < kUnderWay) Start();
      if (!EndOne()) return false;
    }
    return true;
  }
  [[nodiscard]] bool Finish() {
    while (!under_way_.empty()) {
      if (!EndOne()) return false;
    }
    return true;
  }
  int started() const { return started_; }

 private:
  static bool IsLarge(int id) { return id % 16 == 0; }
  void Start() {
    const int id = started_++;
    under_way_.push_back(std::make_unique<TestCall>(std::to_string(id)));
    TestCall& call = *under_way_.back();
    if (IsLarge(id)) call.controller.request_attachment().Append(large_);
    call.Start(channel_);
  }
  bool EndOne() {
    const std::unique_ptr<TestCall> call = std::move(under_way_.front());
    under_way_.pop_front();
    const bool well = call->Wait() && call->ends() == 1 && call->Echoed() &&
                      IsPattern(call->controller.response_attachment(),
                                IsLarge(std::stoi(call->request.message())) ? kLarge : 0);
    if (!well) {
      ADD_FAILURE() << "call " << call->request.message() << " ended " << call->ends()
                    << " times: " << call->Error();
    }
    return well;
  }

  Channel& channel_;
  const std::string large_;
  std::deque<std::unique_ptr<TestCall>> under_way_;
  int started_ = 0;
};

class RdmaFaultTest : public testing::TestWithParam<uint64_t> {
 protected:
  static UpgradeOptions Options() {
    UpgradeOptions options = SoonAgain();
    // A wire that is cut silently is soon found out. Too soon is only a fallback.
    options.stream.ping_interval = std::chrono::milliseconds(20);
    options.stream.progress_timeout = std::chrono::milliseconds(100);
    return options;
  }

  void SetUp() override { ASSERT_TRUE(peers_.ComeToRdma()) << pair_.Logs(); }
  void TearDown() override {
    EXPECT_TRUE(load_.Finish()) << Context();
    const std::vector<std::string> wrong = executed_.Wrong(load_.started());
    EXPECT_TRUE(wrong.empty()) << wrong.size() << ", first call " << wrong[0] << "\n" << Context();
    EXPECT_TRUE(peers_.ComeToRdma()) << Context();
    EXPECT_GT(pair_.client().counts().upgrades, 1u) << "the faults met no RDMA\n" << Context();
  }
  std::string Context() { return absl::StrCat("seed ", GetParam(), "\n", pair_.Logs()); }

  // Some calls later.
  [[nodiscard]] bool GoOn() { return load_.Go(static_cast<int>(random_.Below(2 * kUnderWay))); }
  const char* SomeDevice() { return random_.Chance(0.5) ? "fakeA" : "fakeB"; }
  // Half of all faults meet RDMA in use, the others whatever is under way.
  [[nodiscard]] bool MaybeComeToRdma() { return random_.Chance(0.5) || peers_.ComeToRdma(); }

  RdmaPair pair_{Options()};
  Executed executed_;
  RdmaPeers peers_{pair_, WithRdma(ServerOptions()), WithRdma(Patient()), executed_.Handler()};
  Load load_{peers_.channel()};
  TestRandom random_{GetParam()};
};

TEST_P(RdmaFaultTest, NoCallIsLostOrDoubledWhenQueuePairsBreak) {
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(MaybeComeToRdma()) << Context();
    ASSERT_TRUE(GoOn()) << Context();
    const std::vector<uint32_t> pairs = pair_.faults().QueuePairs(SomeDevice());
    if (!pairs.empty()) pair_.faults().BreakQueuePair(pairs[random_.Below(pairs.size())]);
  }
}

TEST_P(RdmaFaultTest, NoCallIsLostOrDoubledWhenSendsFail) {
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(MaybeComeToRdma()) << Context();
    const int nth = static_cast<int>(1 + random_.Below(200));
    pair_.faults().FailSend(SomeDevice(), nth, IBV_WC_RETRY_EXC_ERR, 0, random_.Chance(0.5));
    ASSERT_TRUE(GoOn()) << Context();
  }
}

TEST_P(RdmaFaultTest, NoCallIsLostOrDoubledWhenTheWireIsCut) {
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(MaybeComeToRdma()) << Context();
    ASSERT_TRUE(GoOn()) << Context();
    pair_.faults().CutPath(
        "fakeA", "fakeB",
        random_.Chance(0.5) ? FakeFaults::Cut::kSilent : FakeFaults::Cut::kReported);
    ASSERT_TRUE(GoOn()) << Context();
    pair_.faults().HealPath("fakeA", "fakeB");
  }
}

TEST_P(RdmaFaultTest, NoCallIsLostOrDoubledWhenADeviceGoes) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(MaybeComeToRdma()) << Context();
    ASSERT_TRUE(GoOn()) << Context();
    const char* const device = SomeDevice();
    pair_.faults().RemoveDevice(device, random_.Chance(0.5));
    ASSERT_TRUE(GoOn()) << Context();
    ASSERT_TRUE(Eventually([&] { return pair_.faults().AddDevice(device); })) << Context();
  }
}

TEST_P(RdmaFaultTest, NoCallIsLostOrDoubledWhateverTheLibraryRefuses) {
  for (int i = 0; i < 20; ++i) {
    // While a connection is set up, or in the midst of the load.
    const uint64_t next = 1 + random_.Below(random_.Chance(0.5) ? 60 : 2000);
    pair_.faults().FailCallNumber(pair_.faults().calls() + next,
                                  random_.Chance(0.5) ? ENOMEM : EINVAL);
    const auto another = peers_.Open();
    for (int calls = 0; calls < 10; ++calls) {
      TestCall call(kWhere);
      call.Call(*another);
      ASSERT_FALSE(call.controller.Failed()) << call.Error() << "\n" << Context();
    }
    ASSERT_TRUE(GoOn()) << Context();
  }
  // None that is still to come.
  pair_.faults().FailCallNumber(0, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RdmaFaultTest, testing::Range(uint64_t{1}, uint64_t{4}));

}  // namespace
}  // namespace farcall
