// SPDX-License-Identifier: Apache-2.0
//
// What a store holds, whatever the sizes of its values and whatever carried them: its limit to the
// last byte, in less than twice as much memory.

#include <cerrno>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "examples/kv/service.h"
#include "farcall/channel.h"
#include "farcall/server.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "transport/base/sanitizer.h"

namespace example {
namespace {

using farcall::TransportKind;

constexpr size_t kKiB = size_t{1} << 10;
constexpr size_t kMiB = size_t{1} << 20;
// ThreadSanitizer looks for races, which are there with less, too; it is slow.
constexpr size_t kStored = (farcall::kThreadSanitizer ? 3 : 12) * kMiB;
// Beside what is stored: receives, what is under way, and what loops keep at hand.
constexpr size_t kUnderWay = 4 * kMiB;

std::string Label(const testing::TestParamInfo<TransportKind>& info) {
  return std::string(ToString(info.param));
}

class KvLimitTest : public testing::TestWithParam<TransportKind> {
 protected:
  KvLimitTest()
      : pair_(farcall::SoonAgain(),
              [](farcall::FakeFabricOptions& fabric, farcall::RdmaRigOptions& rig) {
                fabric.check_memory = false;
                rig.pool.region_bytes = 2 * kMiB;
                // As StoreRuntime; and what is posted to receive.
                rig.pool.max_bytes = 3 * kStored + 64 * kMiB;
              }) {
    farcall::ServerOptions options;
    options.runtime = &pair_.server().runtime();
    options.use_rdma = true;
    options.handler_threads = 0;
    EXPECT_TRUE(server_.AddService(&service_, farcall::SERVER_DOESNT_OWN_SERVICE).ok());
    EXPECT_TRUE(server_.Start("127.0.0.1:0", options).ok());
    farcall::ChannelOptions channel_options;
    channel_options.runtime = &pair_.client().runtime();
    channel_options.use_rdma = GetParam() == TransportKind::kRdma;
    channel_options.timeout_ms = 20'000;
    channel_ = *farcall::Channel::Create(server_.listen_address().ToString(), channel_options);
    stub_ = std::make_unique<Kv_Stub>(channel_.get());
  }

  void SetUp() override {
    ASSERT_TRUE(farcall::Eventually([&] { return Put("first", 1) == 0 && carrier_ == GetParam(); },
                                    2 * farcall::kTestTimeout))
        << pair_.Logs();
    Delete("first");
    used_at_first_ = pair_.server().used_bytes();
  }

  // 0, or the error code.
  int Put(const std::string& key, size_t bytes) {
    farcall::Controller controller;
    KvPutRequest request;
    KvPutResponse response;
    request.set_key(key);
    controller.request_attachment().Append(ValueOf(key, bytes));
    stub_->Put(&controller, &request, &response, nullptr);
    error_ = controller.ErrorText();
    if (controller.connection() != nullptr) carrier_ = controller.connection()->transport;
    return controller.ErrorCode();
  }
  // Whether it is what was put.
  bool Has(const std::string& key, size_t bytes) {
    farcall::Controller controller;
    KvGetRequest request;
    KvGetResponse response;
    request.set_key(key);
    stub_->Get(&controller, &request, &response, nullptr);
    return !controller.Failed() && response.found() &&
           response.value() + controller.response_attachment().ToString() == ValueOf(key, bytes);
  }
  void Delete(const std::string& key) {
    farcall::Controller controller;
    KvDeleteRequest request;
    KvDeleteResponse response;
    request.set_key(key);
    stub_->Delete(&controller, &request, &response, nullptr);
    EXPECT_TRUE(response.found()) << key;
  }
  static std::string ValueOf(const std::string& key, size_t bytes) {
    return std::string(bytes, key.back());
  }

  // No more than twice what is stored is in use of the pool: values, each in blocks of its own.
  void ExpectLittleMemory() {
    EXPECT_TRUE(farcall::Eventually([&] {
      return pair_.server().used_bytes() <= used_at_first_ + 2 * store_.bytes() + kUnderWay;
    })) << pair_.server().used_bytes()
        << " bytes are used, " << used_at_first_ << " at first";
  }

  farcall::RdmaPair pair_;
  Store store_{kStored};
  KvService service_{store_, pair_.server().runtime()};
  farcall::Server server_;
  std::unique_ptr<farcall::Channel> channel_;
  std::unique_ptr<Kv_Stub> stub_;
  TransportKind carrier_ = TransportKind::kSimulated;
  std::string error_;
  size_t used_at_first_ = 0;
};

// Just above the size of a block, or of what is worth a larger one, a value fills its last block
// least.
TEST_P(KvLimitTest, ValuesOfOneSizeFillItToTheLastThatFits) {
  for (const size_t bytes : {4097ul, 8200ul, 17 * kKiB, 33 * kKiB, 70'000ul, 140'000ul, kMiB}) {
    SCOPED_TRACE(bytes);
    // Keys of one length.
    const auto key = [](int i) { return absl::StrCat("key ", 100'000 + i); };
    const auto fit = static_cast<int>(kStored / (key(0).size() + bytes));
    for (int i = 0; i < fit; ++i) ASSERT_EQ(Put(key(i), bytes), 0) << i << " of " << fit << error_;
    EXPECT_EQ(Put(key(fit), bytes), ENOSPC) << error_;
    EXPECT_EQ(store_.bytes(), fit * (key(0).size() + bytes));
    ExpectLittleMemory();
    EXPECT_EQ(carrier_, GetParam());
    for (int i = 0; i < fit; ++i) {
      if (i % 16 == 0) {
        EXPECT_TRUE(Has(key(i), bytes)) << i;
      }
      Delete(key(i));
    }
    EXPECT_EQ(store_.bytes(), 0u);
  }
}

TEST_P(KvLimitTest, ValuesOfAllSizesFillItToItsLastByte) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()) + 1);
  // Each order of magnitude as likely as the others, from 1 byte to 1 MiB.
  const auto any_size = [&] {
    const uint32_t below = 2u << std::uniform_int_distribution<int>(0, 19)(random);
    return std::uniform_int_distribution<size_t>(below / 2, below)(random);
  };
  const auto key = [](int i) { return absl::StrCat("key ", i); };
  std::vector<size_t> sizes;
  int refused = 0;
  while (refused < 20) {
    const std::string next = key(static_cast<int>(sizes.size()));
    const size_t bytes = any_size();
    const bool fits = store_.bytes() + next.size() + bytes <= kStored;
    ASSERT_EQ(Put(next, bytes), fits ? 0 : ENOSPC) << bytes << " bytes; " << error_;
    fits ? sizes.push_back(bytes) : static_cast<void>(++refused);
  }
  const size_t left = kStored - store_.bytes();
  ASSERT_GT(left, 5u);
  EXPECT_EQ(Put("last", left - 3), ENOSPC);
  EXPECT_EQ(Put("last", left - 4), 0) << error_;
  EXPECT_EQ(store_.bytes(), kStored) << "it is full to the last byte";
  ExpectLittleMemory();
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(Has(key(static_cast<int>(i)), sizes[i])) << sizes[i] << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(Over, KvLimitTest,
                         testing::Values(TransportKind::kTcp, TransportKind::kRdma), Label);

}  // namespace
}  // namespace example
