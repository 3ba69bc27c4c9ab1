// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/stream_side.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/testing/stream_text.h"

namespace farcall {

StreamSide::StreamSide(int side, const StreamLimits& limits, World& world, Network& network)
    : side_(side),
      limits_(limits),
      world_(world),
      network_(network),
      writer_(world.pool),
      stream_(limits, world.pool, *this, world.now) {}

void StreamSide::Connect(LinkId link, StreamWire& out, StreamWire& in) {
  links_.insert_or_assign(link, Link{&out, &in, Buffer()});
  dirty_ = true;
}

void StreamSide::Note(absl::string_view what) {
  if (world_.log == nullptr) return;
  const auto us =
      std::chrono::duration_cast<std::chrono::microseconds>(world_.now.time_since_epoch()).count();
  absl::StrAppend(world_.log, us / 1000, ".", absl::Dec(us % 1000, absl::kZeroPad3), " ms ",
                  side_ == 0 ? "A: " : "                    B: ", what, "\n");
}

void StreamSide::Violation(absl::string_view what) {
  Note(absl::StrCat("VIOLATION: ", what));
  if (world_.failure.empty()) world_.failure = absl::StrCat(side_ == 0 ? "A: " : "B: ", what);
}

void StreamSide::Begin() {
  given_up_.clear();
  resumed_.clear();
  dirty_ = true;
  steady_ = false;
}

void StreamSide::Done() {
  const bool speaks = !end_ && !shut_;
  // Of one rail, those that die together are given up by one RESUME.
  if (limits_.rails == 1 && !given_up_.empty()) given_up_ = {*given_up_.rbegin()};
  if (speaks && resumed_ != given_up_) Violation("gives up others than it sent RESUME of");
  for (auto& [link, state] : links_) {
    if (link == kLifeline || !speaks) continue;
    const bool alive = stream_.Alive(link);
    if (state.alive && !alive && !state.gone) {
      Violation(absl::StrCat("G", link, " is dead, and was not given up"));
    }
    state.alive = alive;
  }
  const bool ended = stream_.ended();
  if (ended != end_.has_value()) Violation("ended() is not what Ended said");
}

void StreamSide::Write(size_t bytes) {
  if (closed_ || end_ || frozen_) return;
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = StreamByte(side_, written_ + i);
  Buffer data;
  if (!writer_.Append(text, data)) data.Append(text);
  Note(absl::StrCat("writes ", written_, "+", bytes));
  written_ += bytes;
  const bool steady = steady_;
  Begin();
  stream_.Write(std::move(data));
  Done();
  steady_ = steady;
}

void StreamSide::Pause(bool paused) {
  if (frozen_ || closed_ || end_) return;
  Note(paused ? "handler pauses" : "handler resumes");
  paused_ = paused;
  paused_at_ = delivered_;
  Begin();
  stream_.SetPaused(paused, world_.now);
  Done();
}

void StreamSide::Close() {
  if (frozen_ || end_ || closed_) return;
  Note("closes");
  closed_ = true;
  Begin();
  stream_.CloseAfterFlush(world_.now);
  Done();
}

void StreamSide::Abort() {
  if (frozen_) return;
  Note("aborts");
  Begin();
  stream_.Abort(absl::CancelledError("aborted"));
  Done();
}

void StreamSide::Ready(LinkId generation) {
  if (frozen_) return;
  Note(absl::StrCat("G", generation, " is ready"));
  Begin();
  stream_.OnGenerationReady(generation);
  Done();
  ReadAll();
}

void StreamSide::Broken(LinkId generation, const absl::Status& why) {
  if (frozen_) return;
  Note(absl::StrCat("G", generation, " is broken: ", why.message()));
  Begin();
  stream_.OnGenerationBroken(generation, why);
  Done();
  ReadAll();
}

void StreamSide::LifelineEnd(const absl::Status& why) {
  if (frozen_) return;
  Note("the lifeline ends");
  Begin();
  stream_.OnLifelineEnd(why);
  Done();
}

void StreamSide::Expect(uint32_t generation) {
  if (frozen_) return;
  Begin();
  const absl::Status status = stream_.Expect(generation);
  if (!status.ok()) Violation(status.message());
  Done();
}

void StreamSide::Decline(uint32_t generation) {
  if (frozen_) return;
  Begin();
  stream_.SendUpgrade(LinkFrameType::kUpgradeDecline, absl::StrCat(generation));
  Done();
  Broken(generation, absl::UnavailableError("declined"));
}

uint32_t StreamSide::Start(bool ask) {
  Begin();
  const uint32_t generation = stream_.Start();
  Note(absl::StrCat("starts G", generation));
  if (ask) stream_.SendUpgrade(LinkFrameType::kUpgradeAsk, absl::StrCat(generation));
  Done();
  return generation;
}

void StreamSide::Timer() {
  timer_.reset();
  Begin();
  stream_.OnTimer(world_.now);
  Done();
  dirty_ = true;
}

void StreamSide::Flush() {
  const bool steady = steady_;
  Begin();
  stream_.Flush(world_.now);
  Done();
  dirty_ = false;
  rails_at_once_ = std::max(rails_at_once_, stream_.rails().all().size());
  if (stream_.rails().all().size() > limits_.rails) Violation("sends on more rails than agreed on");
  const auto next = stream_.NextTimer();
  const bool stays = steady && timer_ && stream_.NextTimerStays(*timer_, flushed_);
  if (stays && next && *next < *timer_) Violation("its next timer does not stay where it was");
  flushed_ = world_.now;
  steady_ = true;
  if (next && (!timer_ || *next < *timer_)) timer_ = std::max(*next, world_.now);
}

}  // namespace farcall
