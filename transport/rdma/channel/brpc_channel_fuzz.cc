// SPDX-License-Identifier: Apache-2.0
//
// A peer on brpc's wire that sends any messages, while its user sends, reads and pauses. What must
// hold: it gets what was sent in order, up to the first breach and nothing behind that; no more is
// sent than the window, and never more than three reports without bytes that are not completed;
// what is reported was received, once; nothing is sent once it failed; every block comes home.

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "transport/base/check.h"
#include "transport/brpc_end.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma/channel/brpc_channel.h"
#include "transport/rdma/channel/channel_fuzz_testing.h"
#include "transport/rdma/channel/device_poller_counters.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/testing/fuzz_input.h"

namespace farcall {
namespace {

constexpr uint16_t kSlots = 16;
constexpr uint32_t kWindow = kSlots - BrpcEnd::kBareSlots;

BrpcEnd SmallEnd() {
  BrpcEnd end;
  end.block_bytes = 1024;
  end.send_slots = end.receive_slots = kSlots;
  return end;
}

class BrpcDriver final : private BrpcChannel::User {
 public:
  explicit BrpcDriver(BlockPool& pool)
      : channel_(device_.api, pool, 0, device_.pair, Limits(), kSlots),
        batch_(pool, nullptr, 0, 64) {
    Replenish();
    Check(channel_.Join(*channel_.own_queue(), batch_, room_, counters_, clock_).ok(),
          "there is room");
    channel_.Open(SmallEnd(), SmallEnd());
    channel_.Attach(*this);
    channel_.SetReading(true);
  }
  ~BrpcDriver() {
    channel_.Detach();
    channel_.Leave();
  }

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
        channel_.MaySend();
        return Take();
      default:
        return Receive(input);
    }
  }
  void End() {
    EndBatch();
    Take();
    Check(read_.substr(0, expected_.size()) == expected_, "what came, in order");
    if (!failed()) Check(read_ == expected_, "and nothing else");
  }

 private:
  static BrpcChannel::Limits Limits() {
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

  bool failed() const { return !channel_.error().ok(); }
  void CompleteOne(uint64_t id, ibv_wc_status status, uint32_t bytes, uint32_t report,
                   bool immediate) {
    ibv_wc completion{};
    completion.wr_id = id;
    completion.status = status;
    completion.opcode = IBV_WC_RECV;
    completion.byte_len = bytes;
    completion.imm_data = htonl(report);
    if (immediate) completion.wc_flags = IBV_WC_WITH_IMM;
    channel_.OnCompletion(completion);
  }
  void Replenish() {
    channel_.own_queue()->Fill();
    channel_.own_queue()->Post();
  }
  void EndBatch() {
    if (!failed()) Replenish();
    channel_.EndBatch();
  }
  void Send(FuzzInput& input) {
    out_.Append(std::string(input.Next() * 10, 's'));
    const uint32_t before = device_.sent;
    const bool was_failed = failed();
    channel_.Send(out_, false);
    Check(!was_failed || device_.sent == before, "nothing is sent once it failed");
    Check(device_.sent - completed_ <= kSlots, "no message without a slot");
    Check(channel_.credits() <= kWindow, "no more than the window");
  }
  // The oldest send that asks for it, and all before.
  void Complete() {
    if (device_.signaled.empty()) return;
    const uint64_t id = device_.signaled.front();
    device_.signaled.pop_front();
    completed_ = UnpackWrId(id).slot - BrpcCredits::kFirstSeq + 1;
    CompleteOne(id, IBV_WC_SUCCESS, 0, 0, false);
  }
  void Fail() {
    if (device_.receives.empty()) return;
    const auto receive = device_.receives.front();
    device_.receives.pop_front();
    CompleteOne(receive.id, IBV_WC_WR_FLUSH_ERR, 0, 0, false);
    Check(failed(), "an error is reported");
  }
  void Take() {
    Buffer& input = channel_.TakeInput();
    read_ += input.ToString();
    input.Clear();
  }

  // A message whose report is mostly right, and whose length is anything.
  void Receive(FuzzInput& input) {
    if (device_.receives.empty()) return;
    const auto receive = device_.receives.front();
    device_.receives.pop_front();
    const uint8_t shape = input.Next();
    const uint32_t unreported = kWindow - channel_.credits();
    uint32_t report = shape % 4 == 0 ? unreported : 0;
    if (shape >= 0xf0) report = unreported + shape - 0xef;
    const uint32_t size = shape % 16 == 8 ? 0 : 1 + shape * 4u;
    const std::string message(size, static_cast<char>('a' + next_++ % 26));
    std::memcpy(reinterpret_cast<char*>(receive.address), message.data(), size);
    const bool was_good = !failed();
    CompleteOne(receive.id, IBV_WC_SUCCESS, size, report, shape != 77);
    if (breached_) Check(!channel_.has_input(), "nothing is taken behind a breach");
    // What a queue pair that broke had received may still complete, and is taken or not.
    if (failed()) Take();
    breached_ = breached_ || (was_good && failed());
    if (was_good && !failed()) {
      expected_ += message;
      Check(report <= unreported && (size > 0 || report > 0), "a breach is reported");
      Check(shape != 77, "so is a message without a report");
    }
  }

  testing::FuzzDevice device_;
  CompletionQueueBudget room_{64};
  SteadyClock clock_;
  DevicePollerCounters counters_;
  BrpcChannel channel_;
  SendBatch batch_;
  Buffer out_;
  bool breached_ = false;
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
    farcall::BrpcDriver driver(*pool);
    while (!input.empty()) driver.Do(input);
    driver.End();
  }
  farcall::Check(pool->stats().used_bytes == 0, "every block comes home");
  return 0;
}
