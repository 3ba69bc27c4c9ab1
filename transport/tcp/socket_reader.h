// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_SOCKET_READER_H_
#define FARCALL_TRANSPORT_TCP_SOCKET_READER_H_

#include <cstddef>
#include <cstdint>

#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/tcp/heads_alone.h"
#include "transport/tcp/socket_result.h"

namespace farcall {

// Reads a socket into blocks. One thread at a time.
//
// Small messages share small blocks: each read goes on where the last one ended, and from the
// block's beginning once it has no other reference. A block above the small size takes only bytes
// of a message whose length is known; so what follows a large message pins no more than a small
// block, and a peer gets a large block only when it has sent an eighth of one. Of large messages
// that have a place of their own no more is read elsewhere than their heads need (HeadsAlone).
class SocketReader {
 public:
  explicit SocketReader(BlockPool& pool) : pool_(pool) {}

  // One readv(2) of at most `limit` (> 0) bytes, to the end of input(). The first of them go to
  // `target` (empty: none), which is at most missing() bytes and is not kept.
  SocketResult Read(int fd, size_t limit, const Buffer& target = {});
  Buffer& input() { return input_; }
  // `needed`: what Handler::OnRead returned.
  void Expect(size_t needed);
  // Bytes that the message at the front of input() still lacks, as far as that is known.
  size_t missing() const { return missing_; }
  // Between messages: gives the block back of which nothing is kept, or little is left. Where many
  // connections do so they all read into the one that is in the cache.
  void Rest();
  // Drops input() and every block.
  void Clear();

  // One read of at most `limit` (> 0) bytes that are dropped.
  static SocketResult Discard(int fd, size_t limit);

 private:
  class Plan;
  struct Filling {
    BlockRef block;
    uint32_t used = 0;
    uint32_t room() const { return block ? block->capacity - used : 0; }
  };

  static void PlanPlace(Plan& plan, const Buffer& target);
  void PlanLarge(Plan& plan);
  void PlanSmall(Plan& plan, size_t most);
  BlockRef NewLargeBlock(size_t bytes);
  void Take(Plan& plan, size_t bytes);
  void Adapt(size_t bytes, size_t offered);

  // How much room a read offers at least for small messages: between these, following
  // how much comes.
  static constexpr size_t kMinRoom = BlockPool::kSmall / 2;
  static constexpr size_t kMaxRoom = 8 * BlockPool::kSmall;
  // Who keeps so much of a small block may keep the rest of it.
  static constexpr uint32_t kMostlyUsed = BlockPool::kSmall / 2;
  // Fewer missing bytes go into small blocks: of a larger one they would leave most unused, and
  // who keeps them would keep all of it.
  static constexpr size_t kWorthLarge = BlockPool::kMedium / 2;

  BlockPool& pool_;
  Buffer input_;
  size_t missing_ = 0;
  size_t room_ = kMinRoom;
  Filling small_;
  Filling large_;
  HeadsAlone heads_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_SOCKET_READER_H_
