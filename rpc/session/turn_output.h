// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_TURN_OUTPUT_H_
#define FARCALL_RPC_SESSION_TURN_OUTPUT_H_

#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// What a session writes in one turn of its loop. The connection gets small frames, which lie one
// behind the other in a block, all at once, when the turn ends: until then they are one slice of
// one Buffer, and a further one costs little more than the copy of its bytes. What is large goes to
// the connection as it comes, behind them. With the loop held.
//
// Between turns it keeps no block where others of the loop have something to do, so that thousands
// of connections write to the one that is in the cache; but where the peer reads too slowly what
// waits for it goes on to share blocks.
class TurnOutput final : public Flushable {
 public:
  TurnOutput(EventLoop& loop, BlockPool& pool) : loop_(loop), blocks_(pool) {
    flushes_first = true;
  }
  TurnOutput(const TurnOutput&) = delete;
  TurnOutput& operator=(const TurnOutput&) = delete;
  ~TurnOutput() { Check(flush_slot == kNotQueued, "what is written leaves, or is forgotten"); }

  // From now on `connection` gets it, until Forget.
  void SetConnection(Connection& connection) { connection_ = &connection; }
  // There is no connection any more. What it did not get is dropped.
  void Forget() {
    loop_.ForgetFlush(*this);
    gathered_.Clear();
    blocks_.Leave();
    connection_ = nullptr;
  }

  // Whether the head of the next frame finds room in the pool; it lies elsewhere if not.
  bool Reserve(size_t head) { return blocks_.Reserve(static_cast<uint32_t>(head)); }
  // Of a connection at rest, or of one for which nothing was written after Reserve.
  void Leave() { blocks_.Leave(); }

  // There is a connection. A frame: `head`, which is small and copied, and then `rest`.
  void Write(absl::string_view head, Buffer&& rest) {
    if (!head.empty() && !blocks_.Append(head, gathered_)) gathered_.Append(head);
    // What the connection gets at once is whole frames. Two slices are what a Buffer holds without
    // an allocation.
    if (!rest.empty()) gathered_.Append(std::move(rest));
    if (gathered_.slices().size() > 1) [[unlikely]]
      return Flush();
    loop_.FlushLater(*this);
  }
  void Write(Buffer&& frame) {
    Flush();
    connection_->Write(std::move(frame));
  }
  // Now: before the connection is closed, or asked what waits to be sent.
  void Flush() override {
    if (gathered_.empty()) return;
    if (loop_.fds().crowded() && connection_->backlog() == 0) blocks_.Leave();
    connection_->Write(std::move(gathered_));
  }

 private:
  EventLoop& loop_;
  Connection* connection_ = nullptr;  // null: there is none
  BlockWriter blocks_;                // where heads are copied to
  Buffer gathered_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_TURN_OUTPUT_H_
