// SPDX-License-Identifier: Apache-2.0

#include "transport/link/linked_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/link/client_upgrader.h"
#include "transport/link/reason.h"
#include "transport/link/server_upgrader.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

StreamLimits LimitsOf(const LinkedStream::Parts& parts) {
  StreamLimits limits = parts.settings->options.stream;
  limits.send_window = std::min(limits.send_window, parts.peer_window);
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
                                         .log_name = parts.log_name,
                                         .user = *this})),
      timer_([this] { OnTime(); }) {
  stream_.SetPaused(true, loop_.now());
  stream_.SetExpectsAnswer(parts.role == LinkRole::kClient);
  loop_.FlushLater(*this);
}

LinkedStream::~LinkedStream() {
  loop_.CancelTimer(timer_);
  loop_.ForgetFlush(*this);
}

void LinkedStream::OnLifelineEnd(const absl::Status& why) {
  stream_.OnLifelineEnd(shut_ ? absl::OkStatus() : why);
  AfterEvent();
}

void LinkedStream::Write(Buffer data) {
  if (closing_ || ended_ || data.empty()) return;
  written_ += data.size();
  stream_.Write(std::move(data));
  if (backlog() > parts_.options.high_water) above_high_ = true;
  loop_.FlushLater(*this);
}

void LinkedStream::PauseRead() {
  if (std::exchange(paused_, true)) return;
  stream_.SetPaused(true, loop_.now());
}

void LinkedStream::ResumeRead() {
  if (!std::exchange(paused_, false)) return;
  stream_.SetPaused(false, loop_.now());
  news_ = !input_.empty();
  // What is due is done from the loop's top level.
  if (news_ || ended_) loop_.SetTimer(timer_, loop_.now());
  loop_.FlushLater(*this);
}

void LinkedStream::Close(absl::Status why, CloseMode mode) {
  const bool aborted = mode == CloseMode::kAbort;
  if (told_ || (closing_ && !aborted)) return;
  close_why_ = std::move(why);
  closing_ = true;
  upgrader_->End();
  if (aborted) {
    stream_.Abort(close_why_);
  } else {
    stream_.CloseAfterFlush(loop_.now());
  }
  TellEnd();
  loop_.FlushLater(*this);
}

size_t LinkedStream::backlog() const {
  if (ended_) return 0;
  return stream_.backlog() + Unsent(stream_.sending_on());
}

void LinkedStream::Describe(ConnectionInfo& info) const {
  info.bytes_read = read_;
  info.bytes_written = sent_;
  generations_.AddCounters(info);
  const Connection* const generation = generations_.Find(stream_.sending_on());
  if (on_rdma() && generation != nullptr) {
    info.transport = TransportKind::kRdma;
    info.why_not_rdma = WhyNotRdma::kInUse;
    info.device = generation->info().device;
    return;
  }
  info.why_not_rdma = ReasonOf(why_not());
  info.why_detail = DetailOf(why_not());
}

size_t LinkedStream::ReadFrames(LinkId link, Buffer& input) {
  size_t needed = 0;
  LinkFrame frame;
  while (stream_.Reads(link)) {
    const auto cut = CutLinkFrame(input, frame);
    if (!cut.ok()) {
      stream_.OnGarbage(link, cut.status());
      break;
    }
    needed = *cut;
    if (needed > 0) break;
    stream_.OnFrame(link, frame, loop_.now());
    if (!IsUpgrade(frame.type) || link != kLifeline || ended_) continue;
    const absl::Status handled = upgrader_->OnFrame(frame);
    if (!handled.ok()) stream_.OnGarbage(link, handled);
  }
  AfterEvent();
  return needed;
}

void LinkedStream::OnGenerationEnd(uint32_t generation, const absl::Status& why) {
  stream_.OnGenerationBroken(generation, why);
  AfterEvent();
}

void LinkedStream::OnUpgraded(uint32_t generation, std::unique_ptr<Connection> connection) {
  if (!stream_.Alive(generation)) return;
  generations_.Add(generation, std::move(connection));
  stream_.OnGenerationReady(generation);
}

void LinkedStream::Flush() {
  if (ended_) return;
  upgrader_->OnTurn();
  stream_.Flush(loop_.now());
  sent_ = std::max(sent_, written_ - std::min<uint64_t>(written_, stream_.backlog()));
  TellChange();
  TellEnd();
  Arm();
}

void LinkedStream::OnTime() {
  stream_.OnTimer(loop_.now());
  AfterEvent();
}

void LinkedStream::Arm() {
  if (ended_) return;
  std::optional<TimePoint> due = stream_.NextTimer();
  if (const auto next = upgrader_->next(); next && (!due || *next < *due)) due = next;
  const bool drained = above_high_ && backlog() <= parts_.options.low_water && !closing_;
  if (drained || (news_ && !paused_ && !closing_)) due = loop_.now();
  if (due && (!timer_.pending() || *due < timer_.when)) loop_.SetTimer(timer_, *due);
}

void LinkedStream::AfterEvent() {
  TellInput();
  TellDrained();
  TellChange();
  TellEnd();
  if (!told_) loop_.FlushLater(*this);
}

void LinkedStream::TellInput() {
  if (!news_ || paused_ || closing_ || told_) return;
  news_ = false;
  parts_.user.OnInput(input_);
}

void LinkedStream::TellDrained() {
  if (!above_high_ || closing_ || ended_ || backlog() > parts_.options.low_water) return;
  above_high_ = false;
  parts_.user.OnLowWater();
}

void LinkedStream::TellChange() {
  if (ended_ || (stream_.sending_on() == told_link_ && why_not() == told_why_)) return;
  if (told_link_ == kLifeline && on_rdma()) parts_.settings->record->OnUpgrade();
  told_link_ = stream_.sending_on();
  told_why_ = why_not();
  parts_.user.OnChanged();
}

// A handler that has paused still gets what came before an end in order.
void LinkedStream::TellEnd() {
  if (!ended_ || told_) return;
  if (!closing_ && shut_ && (news_ || (paused_ && !input_.empty()))) return;
  told_ = true;
  loop_.CancelTimer(timer_);
  loop_.ForgetFlush(*this);
  parts_.user.OnEnded(closing_ ? close_why_ : Cause(end_why_));
}

absl::Status LinkedStream::Cause(const absl::Status& why) const {
  if (absl::StrContains(why.message(), parts_.peer)) return why;
  return absl::Status(why.code(), absl::StrCat(why.message(), ": ", parts_.peer));
}

}  // namespace farcall
