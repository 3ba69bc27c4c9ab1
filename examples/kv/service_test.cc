// SPDX-License-Identifier: Apache-2.0
//
// The store as its clients see it, over a socket.

#include "examples/kv/service.h"

#include <cerrno>
#include <future>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "farcall/channel.h"
#include "farcall/closure.h"
#include "farcall/runtime.h"
#include "farcall/server.h"
#include "gtest/gtest.h"

namespace example {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class KvServiceTest : public testing::Test {
 protected:
  KvServiceTest() {
    farcall::ServerOptions options;
    options.runtime = runtime_.get();
    options.handler_threads = 0;
    EXPECT_TRUE(server_.AddService(&service_, farcall::SERVER_DOESNT_OWN_SERVICE).ok());
    EXPECT_TRUE(server_.Start("127.0.0.1:0", options).ok());
    farcall::ChannelOptions channel_options;
    channel_options.timeout_ms = 10'000;
    channel_ = *farcall::Channel::Create(server_.listen_address().ToString(), channel_options);
    stub_ = std::make_unique<Kv_Stub>(channel_.get());
  }

  // 0, or the error code.
  int Put(const std::string& key, const std::string& value, bool attached) {
    farcall::Controller controller;
    KvPutRequest request;
    KvPutResponse response;
    request.set_key(key);
    if (attached) {
      controller.request_attachment().Append(value);
    } else {
      request.set_value(value);
    }
    stub_->Put(&controller, &request, &response, nullptr);
    error_ = controller.ErrorText();
    return controller.ErrorCode();
  }
  // The value, wherever it stands; "(none)".
  std::string Get(const std::string& key) {
    farcall::Controller controller;
    KvGetRequest request;
    KvGetResponse response;
    request.set_key(key);
    stub_->Get(&controller, &request, &response, nullptr);
    EXPECT_FALSE(controller.Failed()) << controller.ErrorText();
    attached_ = controller.response_attachment().size();
    if (!response.found()) return "(none)";
    return response.value() + controller.response_attachment().ToString();
  }

  // As of a server with this store.
  static std::unique_ptr<farcall::Runtime> SmallRuntime() {
    farcall::RuntimeOptions options;
    options.event_loops = 1;
    options.pool.region_bytes = 2 * kMiB;
    options.pool.max_bytes = 3 * kStored + 24 * kMiB;
    return *farcall::Runtime::Create(options);
  }

  static constexpr size_t kStored = 16 * kMiB;
  const std::unique_ptr<farcall::Runtime> runtime_ = SmallRuntime();
  Store store_{kStored};
  KvService service_{store_, *runtime_};
  farcall::Server server_;
  std::unique_ptr<farcall::Channel> channel_;
  std::unique_ptr<Kv_Stub> stub_;
  std::string error_;
  size_t attached_ = 0;
};

TEST_F(KvServiceTest, SmallValuesStandInTheMessageHoweverTheyCame) {
  EXPECT_EQ(Put("inline", "value", /*attached=*/false), 0) << error_;
  EXPECT_EQ(Put("attached", "value", /*attached=*/true), 0) << error_;
  for (const char* key : {"inline", "attached"}) {
    EXPECT_EQ(Get(key), "value");
    EXPECT_EQ(attached_, 0u);
  }
  EXPECT_EQ(Get("neither"), "(none)");
}

TEST_F(KvServiceTest, LargeValuesAreAttached) {
  const std::string value(1'000'000, 'v');
  EXPECT_EQ(Put("large", value, /*attached=*/true), 0) << error_;
  EXPECT_EQ(Get("large"), value);
  EXPECT_EQ(attached_, value.size());
}

TEST_F(KvServiceTest, EmptyValuesAreFound) {
  EXPECT_EQ(Put("empty", "", /*attached=*/true), 0) << error_;
  EXPECT_EQ(Get("empty"), "");
}

TEST_F(KvServiceTest, SizesBeyondTheLimitsAreRefusedWithTheNumber) {
  EXPECT_EQ(Put("", "value", false), EINVAL);
  EXPECT_EQ(error_, "keys have 1 to 1024 bytes, not 0");
  EXPECT_EQ(Put("key", std::string(Store::kLargestValue + 1, 'v'), true), EINVAL);
  EXPECT_EQ(error_, "values have up to 8388608 bytes, not 8388609");
}

TEST_F(KvServiceTest, AFullStoreIsENOSPC) {
  const std::string value(Store::kLargestValue, 'v');
  int code = 0;
  for (int i = 0; code == 0 && i < 100; ++i) code = Put(absl::StrCat("key ", i), value, true);
  EXPECT_EQ(code, ENOSPC) << error_;
}

TEST_F(KvServiceTest, AGetThatIsUnderWayHasTheOldValueWhole) {
  const std::string old_value(Store::kLargestValue, 'o');
  const std::string new_value(Store::kLargestValue, 'n');
  ASSERT_EQ(Put("key", old_value, true), 0) << error_;
  for (int round = 0; round < 20; ++round) {
    farcall::Controller controller;
    KvGetRequest request;
    KvGetResponse response;
    request.set_key("key");
    std::promise<void> got;
    stub_->Get(&controller, &request, &response, farcall::NewClosure([&] { got.set_value(); }));
    // Handled after the get; its answer is still being sent, perhaps.
    ASSERT_EQ(Put("key", round % 2 == 0 ? new_value : old_value, true), 0) << error_;
    got.get_future().wait();
    ASSERT_FALSE(controller.Failed()) << controller.ErrorText();
    const std::string value = controller.response_attachment().ToString();
    ASSERT_TRUE(value == old_value || value == new_value) << "round " << round;
  }
}

TEST_F(KvServiceTest, DeleteTellsWhetherThereWasOne) {
  ASSERT_EQ(Put("key", "value", false), 0);
  for (const bool there : {true, false}) {
    farcall::Controller controller;
    KvDeleteRequest request;
    KvDeleteResponse response;
    request.set_key("key");
    stub_->Delete(&controller, &request, &response, nullptr);
    EXPECT_FALSE(controller.Failed()) << controller.ErrorText();
    EXPECT_EQ(response.found(), there);
  }
}

TEST_F(KvServiceTest, MultiGetHasEachValueInItsPlace) {
  ASSERT_EQ(Put("small", "s", false), 0);
  ASSERT_EQ(Put("large 1", std::string(5000, '1'), true), 0);
  ASSERT_EQ(Put("large 2", std::string(9000, '2'), true), 0);
  farcall::Controller controller;
  KvMultiGetRequest request;
  KvMultiGetResponse response;
  for (const char* key : {"large 2", "none", "small", "large 1"}) request.add_key(key);
  stub_->MultiGet(&controller, &request, &response, nullptr);
  ASSERT_FALSE(controller.Failed()) << controller.ErrorText();
  ASSERT_EQ(response.item_size(), 4);
  EXPECT_EQ(response.item(0).attached(), 9000u);
  EXPECT_FALSE(response.item(1).found());
  EXPECT_EQ(response.item(2).value(), "s");
  EXPECT_EQ(response.item(3).attached(), 5000u);
  EXPECT_EQ(controller.response_attachment().ToString(),
            std::string(9000, '2') + std::string(5000, '1'));
}

TEST_F(KvServiceTest, MultiGetHasLimitsOnKeysAndBytes) {
  ASSERT_EQ(Put("large", std::string(Store::kLargestValue, 'v'), true), 0) << error_;
  const auto ask = [&](const std::string& key, int times) {
    farcall::Controller controller;
    KvMultiGetRequest request;
    KvMultiGetResponse response;
    for (int i = 0; i < times; ++i) request.add_key(key);
    stub_->MultiGet(&controller, &request, &response, nullptr);
    return controller.ErrorCode();
  };
  EXPECT_EQ(ask("none", 0), 0);
  EXPECT_EQ(ask("none", KvService::kMaxKeys), 0);
  EXPECT_EQ(ask("none", KvService::kMaxKeys + 1), EINVAL);
  EXPECT_EQ(ask("large", 4), 0);
  EXPECT_EQ(ask("large", 5), E2BIG);
}

}  // namespace
}  // namespace example
