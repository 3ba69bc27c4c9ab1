// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/plain_input.h"

#include <algorithm>

#include "transport/base/check.h"

namespace farcall {

std::span<char> PlainInput::Room() {
  const size_t lacks = missing();
  // A block that was begun is filled as long as the message lasts.
  if (lacks > 0 && large_.room() > 0) return Offer(large_, lacks);
  if (lacks >= kWorthLarge) {
    const size_t earned = 8 * input_.size();
    const bool largest = lacks >= BlockPool::kLarge && earned >= BlockPool::kLarge;
    if (earned >= BlockPool::kMedium) {
      large_ = {pool_.Allocate(largest ? BlockPool::kLarge : BlockPool::kMedium), 0};
    }
    if (large_.room() > 0) return Offer(large_, lacks);
  }
  if (small_.block.unique()) small_.used = 0;
  if (small_.room() == 0) small_ = {pool_.Allocate(BlockPool::kSmall), 0};
  return Offer(small_, small_.room());
}

std::span<char> PlainInput::Offer(Filling& filling, size_t most) {
  if (filling.room() == 0) return {};
  offered_ = &filling;
  return {filling.block->bytes() + filling.used, std::min<size_t>(filling.room(), most)};
}

void PlainInput::Filled(size_t bytes) {
  Check(offered_ != nullptr && bytes <= offered_->room(), "what is filled was offered");
  if (bytes == 0) return;
  input_.Append(offered_->block, offered_->used, static_cast<uint32_t>(bytes));
  offered_->used += static_cast<uint32_t>(bytes);
  if (offered_->room() == 0) *offered_ = Filling();
  offered_ = nullptr;
}

void PlainInput::Expect(size_t needed) {
  needed_ = needed;
  if (missing() == 0) large_ = Filling();
  if (input_.empty()) small_ = Filling();
}

void PlainInput::Clear() {
  input_ = Buffer();
  small_ = Filling();
  large_ = Filling();
  offered_ = nullptr;
  needed_ = 0;
}

}  // namespace farcall
