// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_RECORDED_STREAM_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_RECORDED_STREAM_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/link/stream/switching_stream.h"

namespace farcall {

// A stream whose orders are written down, one after the other:
// "TCP DATA @0+3 ack 0; G1 given up; deliver abc; shut; end OK".
class RecordedStream final : public SwitchingStream::Output {
 public:
  explicit RecordedStream(StreamLimits limits = Small()) : stream_(limits, *pool_, *this, now_) {}

  // Windows of 8 bytes, of which 2 are acknowledged at once.
  static StreamLimits Small() {
    StreamLimits limits;
    limits.send_window = 8;
    limits.receive_window = 8;
    limits.max_data = 4;
    return limits;
  }

  SwitchingStream& operator*() { return stream_; }
  SwitchingStream* operator->() { return &stream_; }
  TimePoint now() const { return now_; }

  void Write(absl::string_view text) {
    stream_.Write(Buffer(text));
    stream_.Flush(now_);
  }
  // `frame` comes on `link`; flushes.
  void Read(LinkId link, LinkFrame frame) {
    stream_.OnFrame(link, frame, now_);
    stream_.Flush(now_);
  }
  void Data(LinkId link, uint64_t offset, absl::string_view text, uint64_t acknowledged = 0) {
    Read(link, {.type = LinkFrameType::kData,
                .offset = offset,
                .acknowledged = acknowledged,
                .payload = Buffer(text)});
  }
  void Ack(LinkId link, uint64_t acknowledged) {
    Read(link, {.type = LinkFrameType::kAck, .acknowledged = acknowledged});
  }
  void Bye(uint64_t offset, uint64_t acknowledged) {
    Read(kLifeline, {.type = LinkFrameType::kBye, .offset = offset, .acknowledged = acknowledged});
  }
  // The first generation is in use.
  void UseG1() {
    Check(stream_.MayStart() && stream_.Start() == 1, "the stream has not started any");
    stream_.OnGenerationReady(1);
    Take();
  }
  // Time goes on to now() + `by`, with each timer at its time.
  void Pass(Duration by) {
    const TimePoint end = now_ + by;
    for (auto next = stream_.NextTimer(); next && *next <= end; next = stream_.NextTimer()) {
      now_ = std::max(now_, *next);
      stream_.OnTimer(now_);
      stream_.Flush(now_);
      if (!answers_ || last_ping_ == answered_) continue;
      answered_ = last_ping_;
      Read(kLifeline, {.type = LinkFrameType::kPong, .offset = *answers_, .number = answered_});
    }
    now_ = end;
  }
  // PINGs are answered, by a peer that has received so much.
  void AnswerPings(uint64_t received) { answers_ = received; }
  void KeepUnsent(LinkId link, size_t bytes) { unsent_[link] = bytes; }
  // Of the last generation given up, or the end.
  const absl::Status& why() const { return why_; }
  // What was ordered since the last time.
  std::string Take() { return std::exchange(orders_, std::string()); }

 private:
  void Note(absl::string_view what) {
    absl::StrAppend(&orders_, orders_.empty() ? "" : "; ", what);
  }
  static std::string Where(LinkId link) {
    return link == kLifeline ? std::string("TCP") : absl::StrCat("G", link);
  }

  void Send(LinkId link, Buffer&& bytes) override {
    LinkFrame frame;
    if (CutLinkFrame(bytes, frame).value_or(1) != 0) return Note("no frame");
    if (frame.type == LinkFrameType::kPing) last_ping_ = frame.number;
    std::string text = absl::StrCat(Where(link), " ", Name(frame.type));
    if (frame.number != 0) absl::StrAppend(&text, " ", frame.number);
    if (frame.type != LinkFrameType::kAck && frame.type != LinkFrameType::kPing) {
      absl::StrAppend(&text, " @", frame.offset);
    }
    if (!frame.payload.empty()) absl::StrAppend(&text, "+", frame.payload.size());
    Note(absl::StrCat(text, " ack ", frame.acknowledged));
  }
  size_t Unsent(LinkId link) const override {
    const auto found = unsent_.find(link);
    return found == unsent_.end() ? 0 : found->second;
  }
  void Deliver(Buffer&& bytes) override { Note(absl::StrCat("deliver ", bytes.ToString())); }
  void GiveUp(LinkId link, const absl::Status& why) override {
    Note(absl::StrCat(Where(link), " given up"));
    why_ = why;
  }
  void ShutDownWriting() override { Note("shut"); }
  void Ended(const absl::Status& why) override {
    Note(absl::StrCat("end ", absl::StatusCodeToString(why.code())));
    why_ = why;
  }

  std::unique_ptr<BlockPool> pool_ = std::move(BlockPool::Create({})).value();
  TimePoint now_{std::chrono::seconds(1)};
  std::string orders_;
  absl::Status why_;
  std::map<LinkId, size_t> unsent_;
  std::optional<uint64_t> answers_;
  uint64_t last_ping_ = 0;
  uint64_t answered_ = 0;
  SwitchingStream stream_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_RECORDED_STREAM_H_
