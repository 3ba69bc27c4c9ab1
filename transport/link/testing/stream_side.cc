// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/stream_side.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// The byte at `offset` of what `side` says: shifted bytes do not pass for one another.
char ByteAt(int side, uint64_t offset) {
  uint64_t z = (offset + 1) * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(side);
  z ^= z >> 29;
  return static_cast<char>(z * 0xbf58476d1ce4e5b9ULL >> 56);
}

std::string Text(const LinkFrame& frame) {
  std::string text(Name(frame.type));
  if (frame.number != 0) absl::StrAppend(&text, " #", frame.number);
  absl::StrAppend(&text, " at ", frame.offset);
  if (!frame.payload.empty()) absl::StrAppend(&text, "+", frame.payload.size());
  return absl::StrCat(text, " ack ", frame.acknowledged);
}

std::string Where(LinkId link) { return link == kLifeline ? "TCP" : absl::StrCat("G", link); }

}  // namespace

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

// --- Calls of the stream.

void StreamSide::Begin() {
  given_up_ = 0;
  resumed_ = 0;
  dirty_ = true;
}

void StreamSide::Done() {
  const bool speaks = !end_ && !shut_;
  if (speaks && resumed_ != given_up_) {
    Violation(absl::StrCat("gave up G", given_up_, " and sent RESUME of G", resumed_));
  }
  for (auto& [link, state] : links_) {
    if (link == kLifeline || !speaks) continue;
    const bool alive = stream_.Alive(link);
    if (state.alive && !alive && !state.gone) {
      Violation(absl::StrCat("G", link, " is dead, and was not given up"));
    }
    state.alive = alive;
  }
  const bool ended = stream_.ended();
  if (ended != end_.has_value()) Violation("ended() is not what Ended told");
}

void StreamSide::Write(size_t bytes) {
  if (closed_ || end_ || frozen_) return;
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = ByteAt(side_, written_ + i);
  Buffer data;
  if (!writer_.Append(text, data)) data.Append(text);
  Note(absl::StrCat("writes ", written_, "+", bytes));
  written_ += bytes;
  Begin();
  stream_.Write(std::move(data));
  Done();
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
  Begin();
  stream_.Flush(world_.now);
  Done();
  dirty_ = false;
  const auto next = stream_.NextTimer();
  if (next && (!timer_ || *next < *timer_)) timer_ = std::max(*next, world_.now);
}

// --- Frames that come.

void StreamSide::Arrive(LinkId link) {
  Link& from = links_.at(link);
  std::optional<Buffer> bytes = from.in->Arrive();
  if (frozen_ || end_ || from.gone) return;
  if (!bytes) {
    if (!shut_ && !from.inbox.empty()) Violation("the lifeline ended inside a frame");
    return LifelineEnd(absl::OkStatus());
  }
  from.inbox.Append(std::move(*bytes));
  ReadOne(link);
  ReadAll();
}

void StreamSide::ReadAll() {
  do {
    resumed_reading_ = false;
    for (auto& [link, state] : links_) {
      if (!state.inbox.empty()) ReadOne(link);
    }
  } while (resumed_reading_);
}

void StreamSide::ReadOne(LinkId link) {
  Link& from = links_.at(link);
  while (stream_.Reads(link) && world_.failure.empty()) {
    if (from.paused) Violation("reads what it has paused");
    LinkFrame frame;
    const size_t before = from.inbox.size();
    const auto needed = CutLinkFrame(from.inbox, frame);
    if (!needed.ok()) return Violation(needed.status().message());
    if (*needed > 0) return;
    from.in->Read(before - from.inbox.size(), world_.now);
    if (world_.log != nullptr) Note(absl::StrCat("reads ", Where(link), " ", Text(frame)));
    // From inside GiveUp this is a part of another call.
    const bool nested = from.gone;
    if (!nested) Begin();
    Take(link, frame);
    if (!nested) Done();
    if (!IsUpgrade(frame.type) || end_) continue;
    const std::string text = frame.payload.ToString();
    network_.Upgrade(side_, frame.type, static_cast<uint32_t>(std::stoul(text)));
  }
}

void StreamSide::Take(LinkId link, LinkFrame& frame) {
  acknowledged_ = std::max(acknowledged_, frame.acknowledged);
  if (frame.type == LinkFrameType::kBye) final_ = frame.offset;
  const bool comes_to_lifeline =
      frame.type == LinkFrameType::kResume && stream_.sending_on() <= frame.number;
  const uint64_t offset = frame.offset;
  stream_.OnFrame(link, frame, world_.now);
  if (comes_to_lifeline) resume_floor_ = offset;
}

// --- Output.

void StreamSide::Send(LinkId link, Buffer bytes) {
  Buffer copy = bytes.Share();
  LinkFrame frame;
  const auto needed = CutLinkFrame(copy, frame);
  if (!needed.ok() || *needed > 0) return Violation("sends what is no frame");
  if (world_.log != nullptr) Note(absl::StrCat("sends on ", Where(link), " ", Text(frame)));
  CheckSent(link, frame);
  const auto found = links_.find(link);
  if (found == links_.end()) return Violation(absl::StrCat("sends on unknown G", link));
  found->second.out->Send(std::move(bytes), world_.now);
}

void StreamSide::CheckSent(LinkId link, const LinkFrame& frame) {
  if (end_) Violation("sends after the end");
  if (shut_) Violation("sends behind the end of file");
  const auto found = links_.find(link);
  if (found != links_.end() && found->second.gone) {
    Violation(absl::StrCat("sends on G", link, ", which it has given up"));
  }
  const bool data = frame.type == LinkFrameType::kData;
  if (link != kLifeline && !data && frame.type != LinkFrameType::kAck) {
    Violation(absl::StrCat("sends ", Name(frame.type), " on G", link));
  }
  if (data) CheckData(frame);
  if (frame.type == LinkFrameType::kResume) CheckResume(frame);
  if (paused_ && !closed_ && final_ != delivered_ && frame.acknowledged > paused_at_) {
    Violation("acknowledges what a handler that has paused did not take");
  }
}

void StreamSide::CheckData(const LinkFrame& frame) {
  if (frame.offset + frame.payload.size() > acknowledged_ + limits_.send_window) {
    Violation("sends more than the window");
  }
  if (frame.payload.size() > limits_.max_data) Violation("sends too large a frame");
  if (frame.offset < resume_floor_) Violation("sends what a RESUME has told not to send");
}

void StreamSide::CheckResume(const LinkFrame& frame) {
  if (resumed_ != 0) Violation("sends RESUME twice at once");
  if (frame.number <= last_resume_) Violation("sends RESUME again");
  last_resume_ = frame.number;
  resumed_ = static_cast<uint32_t>(frame.number);
}

size_t StreamSide::Unsent(LinkId link) const { return links_.at(link).out->unsent(); }

void StreamSide::Deliver(Buffer bytes) {
  if (closed_) Violation("delivers after the close");
  if (end_) Violation("delivers after the end");
  for (const Buffer::Slice& slice : bytes.slices()) {
    for (const char byte : slice.view()) {
      if (byte != ByteAt(1 - side_, delivered_)) {
        return Violation(absl::StrCat("byte ", delivered_, " is wrong"));
      }
      ++delivered_;
    }
  }
}

void StreamSide::PauseReading(LinkId generation) { links_.at(generation).paused = true; }

void StreamSide::ResumeReading(LinkId generation) {
  Link& link = links_.at(generation);
  if (!link.paused) Violation("resumes what was not paused");
  link.paused = false;
  resumed_reading_ = true;
}

void StreamSide::GiveUp(LinkId generation, const absl::Status& why) {
  Note(absl::StrCat("gives up G", generation, ": ", why.message()));
  const auto found = links_.find(generation);
  if (found != links_.end() && found->second.gone) Violation("gives a generation up twice");
  given_up_ = std::max(given_up_, generation);
  // What was sent on it goes again from what was acknowledged.
  resume_floor_ = 0;
  if (found != links_.end()) {
    found->second.gone = true;
    if (world_.random.Chance(0.7)) ReadOne(generation);
    found->second.inbox.Clear();
    found->second.paused = false;
  }
  network_.Gone(side_, generation, absl::IsDeadlineExceeded(why));
}

void StreamSide::ShutDownWriting() {
  Note("shuts down writing");
  shut_ = true;
  links_.at(kLifeline).out->SendEnd(world_.now);
}

void StreamSide::Ended(const absl::Status& why) {
  Note(absl::StrCat("ends: ", why.ToString()));
  if (end_) Violation("ends twice");
  end_ = why;
  timer_.reset();
  for (auto& [link, state] : links_) {
    const bool was_gone = std::exchange(state.gone, true);
    state.inbox.Clear();
    if (link == kLifeline) {
      if (!shut_) state.out->SendEnd(world_.now);
    } else if (!was_gone) {
      network_.Gone(side_, link, /*stuck=*/false);
    }
  }
}

}  // namespace farcall
