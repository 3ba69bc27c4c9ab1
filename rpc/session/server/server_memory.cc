// SPDX-License-Identifier: Apache-2.0
//
// What a ServerSession holds for its peer, and what becomes of it when memory is short.

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/session/server/limits/memory_holders.h"
#include "rpc/session/server/server_session.h"

namespace farcall {

// Those that hold much are looked at while they do, however quiet they are.
void ServerSession::WatchMemory() {
  constexpr size_t kMax = MemoryHolders::kMuch - 1;
  if (memory_timer_.pending()) return;
  if (partial_ <= kMax && !written_.Above(kMax - partial_, [this] { return Backlog(); })) {
    return;
  }
  moved_ = Moved();
  loop_.SetTimer(memory_timer_, loop_.now() + MemoryHolders::kEach);
}

void ServerSession::OnMemoryWatch() {
  const size_t held = Held();
  if (held < MemoryHolders::kMuch) return core_->ForgetHeld(*this);
  const uint64_t before = std::exchange(moved_, Moved());
  core_->ReportHeld(*this, held, moved_ - before);
  loop_.SetTimer(memory_timer_, loop_.now() + MemoryHolders::kEach);
}

uint64_t ServerSession::Moved() const {
  const ConnectionInfo info = connection_->info();
  return info.bytes_read + info.bytes_written;
}

void ServerSession::GiveUpForMemory() {
  if (connection_ == nullptr) return;
  core_->counters.timed_out.fetch_add(1, std::memory_order_relaxed);
  closing_ = true;
  loop_.CancelTimer(timeout_timer_);
  loop_.CancelTimer(last_look_);
  connection_->Close(
      absl::ResourceExhaustedError(absl::StrCat(
          "the block pool is at its limit (RuntimeOptions::pool.max_bytes), and of the connections "
          "that stand still this one held the most of the block pool, ",
          Held(), " bytes")),
      CloseMode::kAbort);
}

}  // namespace farcall
