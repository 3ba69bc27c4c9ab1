// SPDX-License-Identifier: Apache-2.0
//
// The turns of an EventLoop.

#include "transport/loop/drive/blocking.h"
#include "transport/loop/event_loop.h"

namespace farcall {

bool EventLoop::Turn() {
  Enter();
  bool worked = mailbox_.RunAll() > 0;
  const bool source_worked = sources_.PollAll();
  worked |= source_worked;
  worked |= Look(source_worked);
  worked |= timers_.RunDue(now_) > 0;
  worked |= !user_.empty() || FlushDue();
  user_due_ = user_.size();
  if (worked) ++counts_.turns;
  Release();
  return worked;
}

UserTask* EventLoop::TakeUser(DriverClaim::Piece& piece) {
  Lock();
  UserTask* task = nullptr;
  if (user_due_ > 0 && claim_.Has(piece)) {
    --user_due_;
    task = user_.Pop();
    if (task->watched != nullptr) BeginWatch(*task->watched);
    piece = claim_.Begin(ThisThread(), !task->keeps_drive);
    PublishClaim();
  }
  Release();
  return task;
}

bool EventLoop::EndTurn(DriverClaim::Piece piece) {
  Lock();
  const bool drives = claim_.End(piece);
  PublishClaim();
  if (drives) FlushHeld(user_due_ >= kMuchUser / 2);
  Release();
  return drives;
}

bool EventLoop::TakeDrive(DriverClaim::Piece piece) {
  Lock();
  const bool taken = claim_.Take(piece);
  PublishClaim();
  Release();
  return taken;
}

bool EventLoop::StillIn(DriverClaim::Piece state) {
  Lock();
  const bool still = claim_.state() == state;
  Release();
  return still;
}

bool EventLoop::FlushAndFindUser() {
  Lock();
  FlushHeld();
  const bool user = !user_.empty();
  Release();
  return user;
}

void EventLoop::FlushHeld(bool more) {
  if (!FlushDue()) return;
  now_ = clock_.Now();
  FlushNow(more);
}

// At the descriptors, if that is due; before a timer fires, at all there is.
bool EventLoop::Look(bool source_worked) {
  const bool descriptors = epoll_->size() > kOwnWatches + sources_.size();
  const bool look_due = LookDue(source_worked);
  const std::optional<TimePoint> timer = timers_.next();
  if (!timer || *timer > now_) {
    // Where much waits, the look that is due all the same is at all that was fetched.
    const bool much = MuchUser();
    const bool left = epoll_->fetched() && !much;
    if (!left && !(descriptors && look_due)) return false;
    return epoll_->PollUntil([&] { return !much && MuchUser(); });
  }
  turns_since_look_ = 0;
  bool worked = false;
  if (*timer <= now_ - kStoodStill) {
    for (int i = 0; i < kMaxPolls && sources_.PollAll(); ++i) worked = true;
  }
  if (epoll_->fetched() || descriptors) worked |= epoll_->PollAll();
  return worked;
}

bool EventLoop::LookDue(bool source_worked) {
  if (source_worked) {
    turns_since_source_ = 0;
  } else if (turns_since_source_ < kSourceIdle) {
    ++turns_since_source_;
  }
  const bool seldom = turns_since_source_ < kSourceIdle || MuchUser();
  if (seldom && ++turns_since_look_ < kLookEvery) return false;
  turns_since_look_ = 0;
  return true;
}

bool EventLoop::RunOnce() {
  if (!Turn()) return false;
  // Of user code of this thread that steps its own loop, and goes on as its driver afterwards.
  const DriverClaim outer = claim_;
  DriverClaim::Piece piece = 0;
  while (UserTask* const task = TakeUser(piece)) task->Run();
  Lock();
  claim_ = outer;
  PublishClaim();
  FlushHeld();
  Release();
  return true;
}

std::optional<TimePoint> EventLoop::NextTimer() {
  Lock();
  const std::optional<TimePoint> next = timers_.next();
  Release();
  return next;
}

}  // namespace farcall
