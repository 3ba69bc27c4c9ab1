// SPDX-License-Identifier: Apache-2.0
//
// A peer that sends any frames, and a driver and a handler that do anything allowed. What
// must hold: it ends in progress or in Ended, which is the last order; nothing is given up
// twice or sent on what was given up.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/testing/fuzz_input.h"

namespace farcall {
namespace {

class Driver final : public SwitchingStream::Output {
 public:
  Driver(BlockPool& pool, uint32_t rails) : stream_(Limits(rails), pool, *this, now_) {}

  void Do(FuzzInput& input) {
    switch (input.Next() % 12) {
      case 0:
        return stream_.Write(Buffer(std::string(1 + input.Next() % 32, 'w')));
      case 1:
        return stream_.SetPaused(input.Next() % 2 == 0, now_);
      case 2:
        now_ += std::chrono::milliseconds(1 + input.Next() * 4);
        if (const auto next = stream_.NextTimer(); next && *next <= now_) stream_.OnTimer(now_);
        return;
      case 3:
        if (stream_.Expect(++expected_).ok()) return;
        --expected_;
        return;
      case 4:
        return stream_.OnGenerationReady(input.Next() % 6);
      case 5:
        return stream_.OnGenerationBroken(input.Next() % 6, absl::UnavailableError("cut"));
      case 6:
        if (input.Next() % 8 == 0) stream_.CloseAfterFlush(now_);
        return;
      case 7:
        if (input.Next() % 16 == 0) stream_.OnLifelineEnd(absl::OkStatus());
        return;
      default:
        return Read(input);
    }
  }
  void Flush() {
    stream_.Flush(now_);
    Check(stream_.ended() == ended_, "Ended tells of every end");
  }

 private:
  static StreamLimits Limits(uint32_t rails) {
    StreamLimits limits;
    limits.rails = rails;
    limits.least_slice = 4;
    limits.send_window = 64;
    limits.receive_window = 64;
    limits.max_data = 16;
    return limits;
  }
  // Offsets mostly near those that make sense.
  uint64_t Offset(FuzzInput& input, uint64_t near) {
    const uint8_t byte = input.Next();
    return byte < 240 ? near + byte % 16 - std::min<uint64_t>(near, 4) : uint64_t{byte} << 40;
  }
  void Read(FuzzInput& input) {
    const LinkId link = input.Next() % 3;
    if (!stream_.Reads(link)) return;
    LinkFrame frame;
    frame.type = static_cast<LinkFrameType>(1 + input.Next() % 11);
    frame.acknowledged = Offset(input, acknowledged_);
    const bool towards_us = frame.type == LinkFrameType::kData || frame.type == LinkFrameType::kBye;
    frame.offset = Offset(input, towards_us ? delivered_ : acknowledged_);
    frame.number = input.Next() % 6 == 0 ? input.Next() : last_ping_;
    if (frame.type == LinkFrameType::kData) frame.payload = Buffer(std::string(7, 'r'));
    const uint64_t acknowledged = frame.acknowledged;
    stream_.OnFrame(link, frame, now_);
    if (!ended_) acknowledged_ = std::max(acknowledged_, acknowledged);
  }

  void Send(LinkId link, Buffer&& bytes) override {
    Check(!ended_ && !shut_, "nothing is sent after the end");
    Check(given_up_.count(link) == 0, "nothing is sent on what was given up");
    LinkFrame frame;
    Check(CutLinkFrame(bytes, frame).value_or(1) == 0, "a frame is sent whole");
    if (frame.type == LinkFrameType::kPing) last_ping_ = frame.number;
  }
  size_t Unsent(LinkId) const override { return 0; }
  void Deliver(Buffer&& bytes) override {
    Check(!ended_ && !shut_, "nothing is delivered after the end");
    delivered_ += bytes.size();
  }
  void GiveUp(LinkId link, const absl::Status&) override {
    Check(given_up_.insert(link).second, "a generation is given up once");
  }
  void ShutDownWriting() override { Check(!std::exchange(shut_, true), "shut once"); }
  void Ended(const absl::Status&) override { Check(!std::exchange(ended_, true), "ended once"); }

  TimePoint now_{std::chrono::seconds(1)};
  bool ended_ = false;
  bool shut_ = false;
  uint64_t expected_ = 0;
  uint64_t last_ping_ = 1;
  uint64_t acknowledged_ = 0;
  uint64_t delivered_ = 0;
  std::set<LinkId> given_up_;
  SwitchingStream stream_;
};

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<farcall::BlockPool> pool =
      std::move(farcall::BlockPool::Create({})).value();
  {
    farcall::FuzzInput input(data, size);
    farcall::Driver driver(*pool, input.empty() ? 1 : 1 + input.Next() % 4);
    while (!input.empty()) {
      driver.Do(input);
      driver.Flush();
    }
  }
  farcall::Check(pool->stats().used_bytes == 0, "every block comes home");
  return 0;
}
