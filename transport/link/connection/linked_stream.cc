// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/linked_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/trace.h"
#include "transport/link/connection/client_upgrader.h"
#include "transport/link/connection/linked_generation.h"
#include "transport/link/connection/server_upgrader.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

StreamLimits LimitsOf(const LinkedStream::Parts& parts) {
  StreamLimits limits = parts.settings->options.stream;
  limits.send_window = std::min(limits.send_window, parts.peer_window);
  limits.rails = parts.rails;
  limits.tcp_carries_on = !parts.settings->options.require_rdma;
  limits.close_timeout = parts.options.close_timeout;
  return limits;
}

std::unique_ptr<Upgrader> NewUpgrader(LinkRole role, Upgrader::Parts parts) {
  if (role == LinkRole::kClient) return std::make_unique<ClientUpgrader>(std::move(parts));
  return std::make_unique<ServerUpgrader>(std::move(parts));
}

}  // namespace

LinkedStream::LinkedStream(Parts parts)
    : parts_(std::move(parts)),
      loop_(parts_.loop),
      stream_(LimitsOf(parts_), parts_.lifeline.pool(), *this, loop_.now()),
      upgrader_(NewUpgrader(
          parts_.role, {.loop = loop_,
                        .stream = stream_,
                        .settings = parts_.settings,
                        .options = parts_.options,
                        .introduction = parts_.introduction,
                        .rails = parts_.rails,
                        .log_name = parts_.log_name,
                        .on_upgraded =
                            [this](uint32_t generation, std::unique_ptr<Connection> connection) {
                              AddGeneration(generation, std::move(connection));
                            },
                        .on_event = [this] { AfterEvent(); }})),
      joiner_(parts_.lifeline.pool()),
      flushed_(loop_.now()),
      stall_(parts_.settings->options.stream.stall_patience),
      timer_([this] { OnTime(); }) {
  stream_.SetPaused(true, loop_.now());
  stream_.SetExpectsAnswer(parts_.role == LinkRole::kClient);
  loop_.FlushLater(*this);
}

LinkedStream::~LinkedStream() {
  ReportStall(stall_.End());
  loop_.CancelTimer(timer_);
  loop_.ForgetFlush(*this);
}

void LinkedStream::OnLifelineEnd(const absl::Status& why) {
  stream_.OnLifelineEnd(shut_ ? absl::OkStatus() : why);
  AfterEvent();
}

void LinkedStream::Write(Buffer&& data) {
  if (closing_ || ended_ || data.empty()) return;
  written_.Add(data.size());
  stream_.Write(std::move(data));
  if (written_.Above(parts_.options.high_water, [this] { return backlog(); })) above_high_ = true;
  loop_.FlushLater(*this);
}

void LinkedStream::PauseRead() {
  if (std::exchange(paused_, true)) return;
  stream_.SetPaused(true, loop_.now());
}

void LinkedStream::ResumeRead() {
  if (!std::exchange(paused_, false)) return;
  stream_.SetPaused(false, loop_.now());
  input_due_ = !input_.empty();
  EndWaitForPlace();
  eventful_ = true;
  // What is due is done from the loop's top level.
  if (input_due_ || ended_) loop_.SetTimer(timer_, loop_.now());
  loop_.FlushLater(*this);
}

void LinkedStream::Close(absl::Status why, CloseMode mode) {
  const bool aborted = mode == CloseMode::kAbort;
  if (end_notified_ || (closing_ && !aborted)) return;
  close_why_ = std::move(why);
  closing_ = true;
  eventful_ = true;
  EndWaitForPlace();
  upgrader_->End();
  if (aborted) {
    stream_.Abort(close_why_);
  } else {
    stream_.CloseAfterFlush(loop_.now());
  }
  NotifyEnd();
  loop_.FlushLater(*this);
}

// Whole frames: a lifeline that stands still must not count as one that moves. But each byte is a
// sign of life, and a frame may be longer than what is read in a turn.
size_t LinkedStream::OnLifelineRead(Buffer& input) {
  stream_.OnLifelineBytes(loop_.now());
  return ReadFrames(kLifeline, input, CutLinkFrame);
}

size_t LinkedStream::OnGenerationRead(uint32_t generation, FrameParts& parts, Buffer& input) {
  return ReadFrames(generation, input,
                    [&parts](Buffer& from, LinkFrame& frame) { return parts.Cut(from, frame); });
}

template <typename Cut>
size_t LinkedStream::ReadFrames(LinkId link, Buffer& input, Cut cut) {
  size_t needed = 0;
  LinkFrame frame;
  while (stream_.Reads(link)) {
    const auto found = cut(input, frame);
    if (!found.ok()) {
      stream_.OnGarbage(link, found.status());
      break;
    }
    needed = *found;
    if (needed > 0) break;
    stream_.OnFrame(link, frame, loop_.now());
    if (link == kLifeline && !ended_) OnLifelineFrame(frame);
  }
  if (link != kLifeline) {
    AfterBytes();
  } else {
    WatchForStall();
    AfterEvent();
  }
  return needed;
}

void LinkedStream::OnLifelineFrame(const LinkFrame& frame) {
  if (frame.type == LinkFrameType::kResume) {
    upgrader_->OnResumed(static_cast<uint32_t>(frame.number));
  }
  if (!IsUpgrade(frame.type)) return;
  const absl::Status handled = upgrader_->OnFrame(frame);
  if (!handled.ok()) stream_.OnGarbage(kLifeline, handled);
}

void LinkedStream::Deliver(Buffer&& bytes) {
  read_ += bytes.size();
  input_due_ = true;
  joiner_.Append(std::move(bytes), input_.slices().size(), input_);
}

void LinkedStream::ShutDownWriting() {
  eventful_ = true;
  shut_ = true;
  upgrader_->End();
  GiveUpAll(absl::CancelledError("the stream has ended"));
  parts_.lifeline.Close(absl::CancelledError("the stream has ended"), CloseMode::kFlush);
}

void LinkedStream::Ended(const absl::Status& why) {
  eventful_ = true;
  ended_ = true;
  end_why_ = why;
  upgrader_->End();
  GiveUpAll(absl::CancelledError("the stream has ended"));
  parts_.lifeline.Close(absl::CancelledError("the stream has ended"), CloseMode::kAbort);
}

void LinkedStream::Flush() {
  if (ended_) return;
  if (eventful_) upgrader_->OnTurn();
  stream_.Flush(loop_.now());
  NotifyChange();
  NotifyEnd();
  Arm();
}

void LinkedStream::OnTime() {
  if (place_due_ && *place_due_ <= loop_.now()) GoOn();
  stream_.OnTimer(loop_.now());
  AfterEvent();
}

void LinkedStream::Arm() {
  if (ended_) return;
  const TimePoint before = std::exchange(flushed_, loop_.now());
  const bool drained = above_high_ && backlog() <= parts_.options.low_water && !closing_;
  const bool now = drained || (input_due_ && !paused_ && !closing_);
  if (!std::exchange(eventful_, false) && !now && timer_.pending() &&
      stream_.NextTimerStays(timer_.when, before)) {
    return;
  }
  std::optional<TimePoint> due = stream_.NextTimer();
  if (const auto next = upgrader_->next(); next && (!due || *next < *due)) due = next;
  if (now) due = loop_.now();
  if (place_due_ && loop_.now() < *place_due_ && (!due || *place_due_ < *due)) due = place_due_;
  if (due) loop_.SetTimerBy(timer_, *due);
}

void LinkedStream::AfterEvent() {
  eventful_ = true;
  AfterBytes();
}

void LinkedStream::AfterBytes() {
  NotifyInput();
  NotifyDrained();
  NotifyChange();
  NotifyEnd();
  if (!end_notified_) loop_.FlushLater(*this);
}

void LinkedStream::NotifyInput() {
  if (!input_due_ || paused_ || closing_ || end_notified_) return;
  input_due_ = false;
  // What it returns helps where bytes are read into blocks of one's own choice.
  handler_->OnRead(input_);
  if (place_due_ && (!paused_ || !handler_->AwaitsPlace())) EndWaitForPlace();
}

void LinkedStream::NotifyDrained() {
  if (!above_high_ || closing_ || ended_ || backlog() > parts_.options.low_water) return;
  above_high_ = false;
  handler_->OnDrained();
}

void LinkedStream::NotifyChange() {
  if (!eventful_ && parts_.rails == 1) return;
  const LinkId now = stream_.sending_on();
  const size_t rails = stream_.rails().all().size();
  if (ended_ || (now == notified_link_ && rails == told_rails_ && why_not() == told_why_)) return;
  told_rails_ = rails;
  if (now != notified_link_) NotifySwitch(now);
  told_why_ = why_not();
  parts_.on_change();
}

void LinkedStream::NotifySwitch(LinkId now) {
  const WhyNotRdma why = on_rdma() ? WhyNotRdma::kInUse : ReasonOf(why_not());
  trace::Switch(this, static_cast<uint32_t>(notified_link_), static_cast<uint32_t>(now),
                static_cast<int>(why));
  if (notified_link_ == kLifeline) {
    ++upgrades_;
    parts_.settings->record->OnUpgrade(parts_.log_name);
  } else if (now == kLifeline) {
    ++fallbacks_;
    last_fallback_ = why;
  }
  notified_link_ = now;
}

// The peer says something on the lifeline at least every ping_interval while bytes wait.
void LinkedStream::WatchForStall() {
  if (ended_) return;
  ReportStall(stall_.Look(stream_.unacknowledged(), stream_.acknowledged(), loop_.now()));
}

void LinkedStream::ReportStall(StallWatch::Change change) {
  UpgradeRecord& record = *parts_.settings->record;
  if (change == StallWatch::Change::kMoves) record.OnStallOver();
  if (change != StallWatch::Change::kStalled) return;
  record.OnStall(parts_.log_name,
                 absl::StrCat(stream_.unacknowledged(), " bytes wait for ", parts_.log_name,
                              ", which answers and takes none of them",
                              on_rdma() ? " (over RDMA)" : " (over TCP)"));
}

// A handler that has paused still gets what came before an end in order.
void LinkedStream::NotifyEnd() {
  if (!ended_ || end_notified_) return;
  if (!closing_ && shut_ && (input_due_ || (paused_ && !input_.empty()))) return;
  end_notified_ = true;
  loop_.CancelTimer(timer_);
  loop_.ForgetFlush(*this);
  parts_.on_end(closing_ ? close_why_ : Cause(end_why_));
}

absl::Status LinkedStream::Cause(const absl::Status& why) const {
  if (absl::StrContains(why.message(), parts_.peer)) return why;
  return absl::Status(why.code(), absl::StrCat(why.message(), ": ", parts_.peer));
}

}  // namespace farcall
