// SPDX-License-Identifier: Apache-2.0
//
// StreamSide: what the stream orders, and whether it may.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/testing/stream_side.h"
#include "transport/link/stream/testing/stream_text.h"

namespace farcall {

void StreamSide::Send(LinkId link, Buffer&& bytes) {
  Buffer copy = bytes.Share();
  LinkFrame frame;
  const auto needed = CutLinkFrame(copy, frame);
  if (!needed.ok() || *needed > 0) return Violation("sends what is no frame");
  if (world_.log != nullptr) Note(absl::StrCat("sends on ", LinkName(link), " ", FrameText(frame)));
  CheckSent(link, frame);
  const auto found = links_.find(link);
  if (found == links_.end()) return Violation(absl::StrCat("sends on unknown G", link));
  found->second.out->Send(std::move(bytes), world_.now);
}

bool StreamSide::SendNow(LinkId link, absl::string_view head, const Buffer& payload) {
  if (Unsent(link) > 0) return false;
  Buffer frame(head);
  frame.Append(payload.Share());
  Send(link, std::move(frame));
  return true;
}

void StreamSide::CheckSent(LinkId link, const LinkFrame& frame) {
  if (end_) Violation("sends after the end");
  if (shut_) Violation("sends behind the end of file");
  const auto found = links_.find(link);
  if (found != links_.end() && found->second.gone) {
    Violation(absl::StrCat("sends on G", link, ", which it has given up"));
  }
  const bool data = frame.type == LinkFrameType::kData;
  const bool rail_ack = frame.type == LinkFrameType::kRailAck;
  if (rail_ack && limits_.rails == 1) Violation("sends RAIL_ACK to a peer that need not know it");
  if (link != kLifeline && !data && !rail_ack && frame.type != LinkFrameType::kAck) {
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
  if (frame.offset < resume_floor_) Violation("sends what a RESUME has forbidden");
}

void StreamSide::CheckResume(const LinkFrame& frame) {
  if (limits_.rails == 1 && !resumed_.empty()) Violation("sends RESUME twice at once");
  const bool last = resumes_.empty() || frame.number > *resumes_.rbegin();
  if (limits_.rails == 1 && !last) Violation("sends RESUME of an earlier one");
  if (!resumes_.insert(frame.number).second) Violation("sends RESUME again");
  resumed_.insert(static_cast<uint32_t>(frame.number));
}

size_t StreamSide::Unsent(LinkId link) const { return links_.at(link).out->unsent(); }

void StreamSide::GiveUp(LinkId generation, const absl::Status& why) {
  Note(absl::StrCat("gives up G", generation, ": ", why.message()));
  const auto found = links_.find(generation);
  if (found != links_.end() && found->second.gone) Violation("gives a generation up twice");
  given_up_.insert(generation);
  if (stream_.rails().Find(generation) != nullptr && stream_.rails().all().size() > 1)
    ++rails_lost_;
  // What was sent on it goes again from what was acknowledged.
  if (limits_.rails == 1) resume_floor_ = 0;
  if (found != links_.end()) {
    found->second.gone = true;
    if (world_.random.Chance(0.7)) ReadOne(generation);
    found->second.inbox.Clear();
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
