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

// The head of a frame, copied into the blocks of `writer`. Where the pool is at its limit it, which
// is small, lies elsewhere.
inline void AppendHead(absl::string_view head, BlockWriter& writer, Buffer& to) {
  if (!head.empty() && !writer.Append(head, to)) to.Append(head);
}

// What a session writes in one turn of its loop. The connection gets small frames, which lie one
// behind the other in a block, all at once, when the turn ends: until then they are one slice of
// one Buffer, and a further one costs little more than the copy of its bytes. What is large goes to
// the connection as it comes, behind them. With the loop held.
class TurnOutput final : public Flushable {
 public:
  explicit TurnOutput(EventLoop& loop) : loop_(loop) { flushes_first = true; }
  TurnOutput(const TurnOutput&) = delete;
  TurnOutput& operator=(const TurnOutput&) = delete;
  ~TurnOutput() { Check(flush_slot == kNotQueued, "what is written leaves, or is forgotten"); }

  // From now on `connection` gets it, until Forget.
  void SetConnection(Connection& connection) { connection_ = &connection; }
  // There is no connection any more. What it did not get is dropped.
  void Forget() {
    loop_.ForgetFlush(*this);
    gathered_.Clear();
    connection_ = nullptr;
  }

  // There is a connection. A frame: `head`, as by AppendHead, and then `rest`.
  void Write(absl::string_view head, Buffer&& rest, BlockWriter& writer) {
    AppendHead(head, writer, gathered_);
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
    if (!gathered_.empty()) connection_->Write(std::move(gathered_));
  }

 private:
  EventLoop& loop_;
  Connection* connection_ = nullptr;  // null: there is none
  Buffer gathered_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_TURN_OUTPUT_H_
