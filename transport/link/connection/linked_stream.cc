// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/linked_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/trace.h"
#include "transport/link/connection/client_upgrader.h"
#include "transport/link/connection/server_upgrader.h"
#include "transport/link/stream/progress_watch.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

StreamLimits LimitsOf(const LinkedStream::Parts& parts) {
  StreamLimits limits = parts.settings->options.stream;
  limits.send_window = std::min(limits.send_window, parts.peer_window);
  limits.rails = parts.rails;
  limits.close_timeout = parts.options.close_timeout;
  return limits;
}

std::unique_ptr<Upgrader> NewUpgrader(LinkRole role, Upgrader::Parts parts) {
  if (role == LinkRole::kClient) return std::make_unique<ClientUpgrader>(std::move(parts));
  return std::make_unique<ServerUpgrader>(std::move(parts));
}

}  // namespace

LinkedStream::LinkedStream(const Parts& parts)
    : parts_(parts),
      loop_(parts.loop),
      stream_(LimitsOf(parts), parts.lifeline.pool(), *this, parts.loop.now()),
      upgrader_(NewUpgrader(parts.role, {.loop = parts.loop,
                                         .stream = stream_,
                                         .settings = parts.settings,
                                         .options = parts.options,
                                         .introduction = parts.introduction,
                                         .rails = parts.rails,
                                         .log_name = parts.log_name,
                                         .user = *this})),
      joiner_(parts.lifeline.pool()),
      stall_(parts.settings->options.stream.stall_patience),
      timer_([this] { OnTime(); }) {
  stream_.SetPaused(true, loop_.now());
  stream_.SetExpectsAnswer(parts.role == LinkRole::kClient);
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
  place_due_.reset();
  generations_.GoOn();
  input_due_ = !input_.empty();
  // What is due is done from the loop's top level.
  if (input_due_ || ended_) loop_.SetTimer(timer_, loop_.now());
  loop_.FlushLater(*this);
}

void LinkedStream::Close(absl::Status why, CloseMode mode) {
  const bool aborted = mode == CloseMode::kAbort;
  if (end_notified_ || (closing_ && !aborted)) return;
  close_why_ = std::move(why);
  closing_ = true;
  upgrader_->End();
  if (aborted) {
    stream_.Abort(close_why_);
  } else {
    stream_.CloseAfterFlush(loop_.now());
  }
  NotifyEnd();
  loop_.FlushLater(*this);
}

void LinkedStream::TrustPeer() {
  trusted_ = true;
  generations_.TrustPeer();
  upgrader_->TrustPeer();
  if (!end_notified_) loop_.FlushLater(*this);
}

size_t LinkedStream::backlog() const { return ended_ ? 0 : stream_.backlog(); }

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

Buffer LinkedStream::GenerationPlace(const FrameParts& parts, size_t ahead, size_t bytes) {
  // To a handler that has seen all that it could. On others of several rails there may be bytes in
  // front of these.
  if (paused_ || input_due_ || closing_ || end_notified_ || parts.offset() < stream_.received())
    return {};
  const uint64_t before = parts.offset() - stream_.received();
  if (before > 0 && parts_.rails == 1) return {};
  return parts_.user.InputPlace(before + ahead, bytes);
}

// Shorter than what makes the peer suspect the rail: it asks for the first time StillPing after it
// has sent, and counts SuspectAfter from the answer on.
bool LinkedStream::GenerationAwaitsPlace() {
  const Duration timeout = SuspectAfter(parts_.settings->options.stream);
  if (!paused_ || input_due_ || closing_ || end_notified_ || !parts_.user.InputAwaitsPlace())
    return false;
  if (!place_due_) {
    place_due_ = loop_.now() + timeout;
    loop_.FlushLater(*this);
  }
  return loop_.now() < *place_due_;
}

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
    if (link != kLifeline || ended_) continue;
    if (frame.type == LinkFrameType::kResume) {
      upgrader_->OnResumed(static_cast<uint32_t>(frame.number));
    }
    if (!IsUpgrade(frame.type)) continue;
    const absl::Status handled = upgrader_->OnFrame(frame);
    if (!handled.ok()) stream_.OnGarbage(link, handled);
  }
  if (link == kLifeline) WatchForStall();
  AfterEvent();
  return needed;
}

void LinkedStream::OnGenerationEnd(uint32_t generation, const absl::Status& why) {
  stream_.OnGenerationBroken(generation, why);
  AfterEvent();
}

void LinkedStream::OnUpgraded(uint32_t generation, std::unique_ptr<Connection> connection) {
  if (!stream_.Alive(generation)) return;
  if (trusted_) connection->TrustPeer();
  generations_.Add(generation, std::move(connection));
  stream_.OnGenerationReady(generation);
}

void LinkedStream::Flush() {
  if (ended_) return;
  upgrader_->OnTurn();
  stream_.Flush(loop_.now());
  NotifyChange();
  NotifyEnd();
  Arm();
}

void LinkedStream::OnTime() {
  if (place_due_ && *place_due_ <= loop_.now()) generations_.GoOn();
  stream_.OnTimer(loop_.now());
  AfterEvent();
}

void LinkedStream::Arm() {
  if (ended_) return;
  std::optional<TimePoint> due = stream_.NextTimer();
  if (const auto next = upgrader_->next(); next && (!due || *next < *due)) due = next;
  const bool drained = above_high_ && backlog() <= parts_.options.low_water && !closing_;
  if (drained || (input_due_ && !paused_ && !closing_)) due = loop_.now();
  if (place_due_ && loop_.now() < *place_due_ && (!due || *place_due_ < *due)) due = place_due_;
  if (due && (!timer_.pending() || *due < timer_.when)) loop_.SetTimer(timer_, *due);
}

void LinkedStream::AfterEvent() {
  NotifyInput();
  NotifyDrained();
  NotifyChange();
  NotifyEnd();
  if (!end_notified_) loop_.FlushLater(*this);
}

void LinkedStream::NotifyInput() {
  if (!input_due_ || paused_ || closing_ || end_notified_) return;
  input_due_ = false;
  parts_.user.OnInput(input_);
}

void LinkedStream::NotifyDrained() {
  if (!above_high_ || closing_ || ended_ || backlog() > parts_.options.low_water) return;
  above_high_ = false;
  parts_.user.OnLowWater();
}

void LinkedStream::NotifyChange() {
  const LinkId now = stream_.sending_on();
  const size_t rails = stream_.rails().all().size();
  if (ended_ || (now == notified_link_ && rails == told_rails_ && why_not() == told_why_)) return;
  told_rails_ = rails;
  if (now != notified_link_) NotifySwitch(now);
  told_why_ = why_not();
  parts_.user.OnChanged();
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
  parts_.user.OnEnded(closing_ ? close_why_ : Cause(end_why_));
}

absl::Status LinkedStream::Cause(const absl::Status& why) const {
  if (absl::StrContains(why.message(), parts_.peer)) return why;
  return absl::Status(why.code(), absl::StrCat(why.message(), ": ", parts_.peer));
}

}  // namespace farcall
