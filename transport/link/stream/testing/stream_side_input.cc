// SPDX-License-Identifier: Apache-2.0
//
// StreamSide: frames that come.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/testing/stream_side.h"
#include "transport/link/stream/testing/stream_text.h"

namespace farcall {

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
  for (auto& [link, state] : links_) {
    if (!state.inbox.empty()) ReadOne(link);
  }
}

void StreamSide::ReadOne(LinkId link) {
  Link& from = links_.at(link);
  while (stream_.Reads(link) && world_.failure.empty()) {
    LinkFrame frame;
    const size_t before = from.inbox.size();
    const auto needed = CutLinkFrame(from.inbox, frame);
    if (!needed.ok()) return Violation(needed.status().message());
    if (*needed > 0) return;
    from.in->Read(before - from.inbox.size(), world_.now);
    if (world_.log != nullptr) Note(absl::StrCat("reads ", LinkName(link), " ", FrameText(frame)));
    // From inside GiveUp this is a part of another call.
    const bool nested = from.gone;
    const bool plain = frame.type == LinkFrameType::kData || frame.type == LinkFrameType::kAck;
    const bool steady = steady_ && link != kLifeline && plain;
    if (!nested) Begin();
    Take(link, frame);
    if (!nested) Done();
    if (!nested) steady_ = steady;
    if (!IsUpgrade(frame.type) || end_) continue;
    const std::string text = frame.payload.ToString();
    network_.Upgrade(side_, frame.type, static_cast<uint32_t>(std::stoul(text)));
  }
}

void StreamSide::Take(LinkId link, LinkFrame& frame) {
  acknowledged_ = std::max(acknowledged_, frame.acknowledged);
  if (frame.type == LinkFrameType::kBye) final_ = frame.offset;
  const bool resume = frame.type == LinkFrameType::kResume;
  const bool comes_to_lifeline = resume && stream_.sending_on() <= frame.number;
  const uint64_t offset = frame.offset;
  stream_.OnFrame(link, frame, world_.now);
  early_ = std::max<uint64_t>(early_, stream_.early());
  if (stream_.early() > limits_.receive_window) Violation("keeps more than the window");
  if (limits_.rails > 1) {
    if (resume) resume_floor_ = std::max(resume_floor_, offset);
  } else if (comes_to_lifeline) {
    resume_floor_ = offset;
  }
}

void StreamSide::Deliver(Buffer&& bytes) {
  if (closed_) Violation("delivers after the close");
  if (end_) Violation("delivers after the end");
  for (const Buffer::Slice& slice : bytes.slices()) {
    for (const char byte : slice.view()) {
      if (byte != StreamByte(1 - side_, delivered_)) {
        return Violation(absl::StrCat("byte ", delivered_, " is wrong"));
      }
      ++delivered_;
    }
  }
}

}  // namespace farcall
