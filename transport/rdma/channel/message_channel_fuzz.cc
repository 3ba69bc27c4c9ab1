// SPDX-License-Identifier: Apache-2.0
//
// A peer that sends any messages on a queue pair, while its user sends, reads and pauses. What
// must hold: it gets what was sent in order, up to the first breach and nothing behind that; no
// more is sent than the peer gave credits and the queue pair slots for; nothing is sent once it
// failed; every block comes home.

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma/channel/channel_fuzz_testing.h"
#include "transport/rdma/channel/device_poller_counters.h"
#include "transport/rdma/channel/message_channel.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/testing/fuzz_input.h"

namespace farcall {
namespace {

constexpr uint32_t kSlots = 8;
constexpr uint32_t kFirst = CreditFlow::kFirstCount;

class Driver final : private MessageChannel::User {
 public:
  Driver(BlockPool& pool, bool initiator)
      : channel_(device_.api, pool, 0, device_.pair, Limits(), 2 * kSlots),
        batch_(pool, nullptr, 0, 64) {
    Replenish();
    Check(channel_.Join(*channel_.own_queue(), batch_, room_, counters_, clock_).ok(),
          "there is room");
    const ReceiveTerms terms = {
        .block_bytes = 4096, .initial_receives = 4, .receive_slots = kSlots};
    channel_.Open(terms, terms, initiator);
    channel_.Attach(*this);
  }
  ~Driver() { channel_.Detach(); }

  void Do(FuzzInput& input) {
    switch (input.Next() % 10) {
      case 0:
        return EndBatch();
      case 1:
        return Send(input);
      case 2:
        return Complete();
      case 3:
        return channel_.SetReading(input.Next() % 4 != 0);
      case 4:
        if (input.Next() % 16 == 0) Fail();
        return;
      case 5:
        return Take();
      default:
        return Receive(input);
    }
  }
  void End() {
    EndBatch();
    Take();
    Check(read_.substr(0, expected_.size()) == expected_, "what came, in order");
    if (!lost_) Check(read_ == expected_, "and nothing else");
  }

 private:
  static MessageChannel::Limits Limits() {
    return {.send_slots = kSlots,
            .receive_slots = kSlots,
            .max_inline = 32,
            .max_segments = 3,
            .copy_out_below = 64};
  }
  void OnChannel() override {}
  void OnStarved() override {}
  Buffer PlaceFor(size_t, size_t) override { return {}; }
  std::shared_ptr<void> HoldPlace() override { return nullptr; }

  void CompleteOne(uint64_t id, ibv_wc_status status, uint32_t bytes) {
    ibv_wc completion{};
    completion.wr_id = id;
    completion.status = status;
    completion.byte_len = bytes;
    channel_.OnCompletion(completion);
  }
  void Replenish() {
    channel_.own_queue()->Fill();
    channel_.own_queue()->Post();
  }
  void EndBatch() {
    channel_.EndBatch();
    Replenish();
    channel_.Grant();
  }
  void Send(FuzzInput& input) {
    const uint8_t size = input.Next();
    const Buffer bytes(std::string(size % 100, 's'));
    const uint32_t before = device_.sent;
    const bool failed = !channel_.error().ok();
    if (size % 4 == 0 && out_.empty() && channel_.SendNow("head", bytes)) {
      Check(device_.sent == before + 1, "it is sent at once");
    } else {
      out_.Append(bytes.Share());
      fin_ = fin_ || size == 255;
      channel_.Send(out_, fin_);
    }
    Check(!failed || device_.sent == before, "nothing is sent once it failed");
    Check(device_.sent <= given_, "no message without a credit of the peer");
    Check(device_.sent - completed_ <= kSlots, "no message without a slot");
  }
  // The oldest send that asks for it, and all before.
  void Complete() {
    if (device_.signaled.empty()) return;
    const uint64_t id = device_.signaled.front();
    device_.signaled.pop_front();
    completed_ = UnpackWrId(id).slot - kFirst + 1;
    CompleteOne(id, IBV_WC_SUCCESS, 0);
  }
  void Fail() {
    if (device_.receives.empty()) return;
    const testing::FuzzDevice::Receive receive = device_.receives.front();
    device_.receives.pop_front();
    lost_ = true;
    CompleteOne(receive.id, IBV_WC_WR_FLUSH_ERR, 0);
    Check(!channel_.error().ok(), "an error is reported");
  }
  void Take() {
    Buffer& input = channel_.TakeInput();
    read_ += input.ToString();
    input.Clear();
  }

  // A message whose header is mostly right, and whose length is anything.
  void Receive(FuzzInput& input) {
    if (device_.receives.empty()) return;
    const testing::FuzzDevice::Receive receive = device_.receives.front();
    device_.receives.pop_front();
    const uint8_t shape = input.Next();
    const uint8_t count = input.Next();
    uint32_t reported = given_;
    if (count < 200) reported += count % 4 == 0 ? 1 : 0;
    if (count >= 240) reported = kFirst * count;
    if (count >= 200 && count < 240) reported -= count % 8;
    const uint32_t size = shape < 16 ? shape : std::min<uint32_t>(8 + shape % 128, kReceiveBlock);
    char* const block = reinterpret_cast<char*>(receive.address);
    std::string message(size, static_cast<char>('a' + next_++ % 26));
    if (size >= kMessageHeaderBytes) {
      EncodeMessageHeader({.count = kFirst + reported, .fin = shape % 64 == 33}, message.data());
      if (shape == 77) message[5] = 1;
    }
    std::memcpy(block, message.data(), size);
    const bool was_good = channel_.error().ok();
    CompleteOne(receive.id, IBV_WC_SUCCESS, size);
    if (!channel_.error().ok()) {
      Check(!channel_.error().message().empty(), "a breach has a name");
      lost_ = true;
    }
    if (breached_) Check(!channel_.has_input(), "nothing is taken behind a breach");
    if (was_good && channel_.error().ok()) {
      given_ = std::max(given_, reported);
      expected_ += message.substr(kMessageHeaderBytes);
    } else {
      // What a queue pair that broke had received may still complete, and is taken or not.
      Take();
      breached_ = breached_ || was_good;
    }
  }

  testing::FuzzDevice device_;
  MessageChannel channel_;
  SteadyClock clock_;
  SendBatch batch_;
  CompletionQueueBudget room_{64};
  DevicePollerCounters counters_;
  Buffer out_;
  bool fin_ = false;
  bool lost_ = false;
  bool breached_ = false;
  uint32_t given_ = 4;
  uint32_t completed_ = 0;
  unsigned next_ = 0;
  std::string expected_;
  std::string read_;
};

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static farcall::testing::KnownMemory memory;
  static const std::unique_ptr<farcall::BlockPool> pool =
      std::move(farcall::BlockPool::Create({}, &memory)).value();
  {
    farcall::FuzzInput input(data, size);
    farcall::Driver driver(*pool, input.Next() % 2 == 0);
    while (!input.empty()) driver.Do(input);
    driver.End();
  }
  farcall::Check(pool->stats().used_bytes == 0, "every block comes home");
  return 0;
}
