// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/socket_reader.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace farcall {

// The parts of blocks that one system call may fill.
class SocketReader::Plan {
 public:
  explicit Plan(size_t limit) : limit_(limit) {}

  struct Slot {
    Filling filling;
    uint32_t length = 0;
    Filling* home = nullptr;  // where the rest of the block goes afterwards; null: nowhere
    bool fresh = false;       // allocated for this call
  };

  bool full() const { return count_ == slots_.size() || bytes_ == limit_; }
  size_t bytes() const { return bytes_; }
  size_t rest() const { return limit_ - bytes_; }
  size_t slots_left() const { return slots_.size() - count_; }

  // Offers up to `most` bytes of `filling`; returns how many.
  size_t Offer(Filling filling, size_t most, Filling* home, bool fresh) {
    const auto length = static_cast<uint32_t>(std::min({size_t{filling.room()}, most, rest()}));
    vectors_[count_] = {filling.block->bytes() + filling.used, length};
    slots_[count_++] = {std::move(filling), length, home, fresh};
    bytes_ += length;
    return length;
  }
  // Goes on in the block of `home`, from its beginning when that is free again.
  size_t OfferRest(Filling& home, size_t most) {
    if (home.block.unique()) home.used = 0;
    if (home.room() == 0) return 0;
    return Offer(std::exchange(home, Filling()), most, &home, /*fresh=*/false);
  }

  ssize_t ReadFrom(int fd) { return ::readv(fd, vectors_.data(), static_cast<int>(count_)); }
  Slot* begin() { return slots_.data(); }
  Slot* end() { return slots_.data() + count_; }

 private:
  static constexpr size_t kMaxSlots = 16;

  const size_t limit_;
  size_t bytes_ = 0;
  size_t count_ = 0;
  std::array<Slot, kMaxSlots> slots_;
  std::array<iovec, kMaxSlots> vectors_;
};

SocketResult SocketReader::Read(int fd, size_t limit, const Buffer& target) {
  Plan plan(limit);
  const size_t ahead = heads_.Room(missing_, target.size());
  PlanPlace(plan, target);
  if (missing_ > plan.bytes() && !plan.full()) PlanLarge(plan);
  if (!plan.full()) PlanSmall(plan, ahead);
  if (plan.bytes() == 0) return {SocketProgress::kNoMemory};

  const ssize_t got = plan.ReadFrom(fd);
  const int error = errno;
  const size_t bytes = got > 0 ? static_cast<size_t>(got) : 0;
  Take(plan, bytes);
  if (got > 0) {
    heads_.Came(bytes, plan.bytes());
    if (ahead > room_) Adapt(bytes, plan.bytes());
    return {bytes == plan.bytes() ? SocketProgress::kMore : SocketProgress::kBlocked, bytes};
  }
  if (got == 0) return {SocketProgress::kEnd};
  if (error == EAGAIN) return {SocketProgress::kBlocked};
  if (error == EINTR) return {SocketProgress::kMore};
  return {SocketProgress::kFailed, 0, error};
}

void SocketReader::Expect(size_t needed) {
  missing_ = needed > input_.size() ? needed - input_.size() : 0;
  if (missing_ == 0) large_ = Filling();
}

void SocketReader::Rest() {
  if (input_.empty() && (small_.used >= kMostlyUsed || small_.block.unique())) small_ = Filling();
}

void SocketReader::Clear() {
  input_ = Buffer();
  small_ = Filling();
  large_ = Filling();
  missing_ = 0;
}

SocketResult SocketReader::Discard(int fd, size_t limit) {
  std::array<char, 16384> nowhere;
  const size_t asked = std::min(limit, nowhere.size());
  const ssize_t got = ::recv(fd, nowhere.data(), asked, 0);
  if (got > 0) {
    const auto bytes = static_cast<size_t>(got);
    return {bytes == asked ? SocketProgress::kMore : SocketProgress::kBlocked, bytes};
  }
  if (got == 0) return {SocketProgress::kEnd};
  if (errno == EAGAIN) return {SocketProgress::kBlocked};
  if (errno == EINTR) return {SocketProgress::kMore};
  return {SocketProgress::kFailed, 0, errno};
}

// The last slot is for a block: what follows the target is read along with it.
void SocketReader::PlanPlace(Plan& plan, const Buffer& target) {
  for (const Buffer::Slice& slice : target.slices()) {
    if (plan.slots_left() <= 1 || plan.full()) return;
    plan.Offer({slice.block, slice.offset}, slice.length, nullptr, /*fresh=*/true);
  }
}

// A block that was begun is filled as long as the message lasts.
void SocketReader::PlanLarge(Plan& plan) {
  size_t wanted = std::min(missing_ - plan.bytes(), plan.rest());
  wanted -= plan.OfferRest(large_, wanted);
  // What is left below kWorthLarge shares a small block with what follows.
  while (wanted >= kWorthLarge && !plan.full()) {
    BlockRef block = NewLargeBlock(missing_ - plan.bytes());
    if (!block) return;
    wanted -= plan.Offer({std::move(block), 0}, wanted, &large_, /*fresh=*/true);
  }
}

// At most `most` bytes behind the message.
void SocketReader::PlanSmall(Plan& plan, size_t most) {
  const size_t missing = missing_ - std::min(missing_, plan.bytes());
  const size_t end = most < plan.rest() - missing ? plan.bytes() + missing + most : SIZE_MAX;
  const size_t wanted = std::min(end, plan.bytes() + std::max(room_, std::min(missing, kMaxRoom)));
  plan.OfferRest(small_, std::min(plan.rest(), end - plan.bytes()));
  while (plan.bytes() < wanted && !plan.full()) {
    BlockRef block = pool_.Allocate(BlockPool::kSmall);
    if (!block) return;
    plan.Offer({std::move(block), 0}, std::min(plan.rest(), end - plan.bytes()), &small_,
               /*fresh=*/true);
  }
}

BlockRef SocketReader::NewLargeBlock(size_t bytes) {
  const size_t earned = 8 * input_.size();
  BlockRef block;
  if (bytes >= BlockPool::kLarge && earned >= BlockPool::kLarge) {
    block = pool_.Allocate(BlockPool::kLarge);
  }
  if (!block && earned >= BlockPool::kMedium) block = pool_.Allocate(BlockPool::kMedium);
  return block;
}

// The first `bytes` of the plan came. Fresh blocks that got none go back to the pool.
void SocketReader::Take(Plan& plan, size_t bytes) {
  for (Plan::Slot& slot : plan) {
    const auto part = static_cast<uint32_t>(std::min<size_t>(bytes, slot.length));
    if (part == 0 && slot.fresh) continue;
    bytes -= part;
    input_.Append(slot.filling.block, slot.filling.used, part);
    if (slot.home == nullptr) continue;
    slot.filling.used += part;
    *slot.home = std::move(slot.filling);
    if (slot.home->room() == 0) *slot.home = Filling();
  }
}

void SocketReader::Adapt(size_t bytes, size_t offered) {
  if (bytes == offered) {
    room_ = std::min(2 * room_, kMaxRoom);
  } else if (bytes < room_ / 4) {
    room_ = std::max(room_ / 2, kMinRoom);
  }
}

}  // namespace farcall
