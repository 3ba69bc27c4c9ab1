// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_PLAIN_INPUT_H_
#define FARCALL_TRANSPORT_TLS_PLAIN_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Plaintext on its way to a Handler, in blocks. One thread at a time.
//
// Small messages share small blocks. A larger block takes only bytes of a message whose length
// the Handler has asked for and an eighth of which is there, so that neither what follows a large
// message nor a peer that only announces one pins much. At rest it keeps no block.
class PlainInput {
 public:
  explicit PlainInput(BlockPool& pool) : pool_(pool) {}

  Buffer& input() { return input_; }
  // Where the next bytes go. Empty: the pool is at its limit.
  std::span<char> Room();
  // The first `bytes` of the last Room were filled: they stand at the end of input().
  void Filled(size_t bytes);
  // `needed`: what Handler::OnRead returned.
  void Expect(size_t needed);
  // Drops input() and every block.
  void Clear();

 private:
  struct Filling {
    BlockRef block;
    uint32_t used = 0;
    uint32_t room() const { return block ? block->capacity - used : 0; }
  };
  std::span<char> Offer(Filling& filling, size_t most);
  size_t missing() const { return needed_ > input_.size() ? needed_ - input_.size() : 0; }

  // Fewer missing bytes go into small blocks: of a larger one they would leave most unused, and
  // who keeps them would keep all of it.
  static constexpr size_t kWorthLarge = BlockPool::kMedium / 2;

  BlockPool& pool_;
  Buffer input_;
  size_t needed_ = 0;
  Filling small_;
  Filling large_;
  Filling* offered_ = nullptr;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_PLAIN_INPUT_H_
