// SPDX-License-Identifier: Apache-2.0
//
// RequestPlace: what becomes of the attachment of one request whose service says where it shall
// come to lie.
//
//   asked ──Answer──> placed ──Came──> whole ───┐
//     │                 │                │      ├──> due: the handler, or the refusal, may run
//     └─────Fail────────┴──────Fail──────┴─> failed
//
// It is due once: when no answer of the service is awaited, and no device writes to the memory.
// Until then the connection alone writes there, and only while the state is `placed`.

#ifndef FARCALL_RPC_SESSION_SERVER_REQUEST_PLACE_H_
#define FARCALL_RPC_SESSION_SERVER_REQUEST_PLACE_H_

#include <cstddef>
#include <cstdint>

#include "rpc/call/attachment_memory.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Pure. With the session's loop held, until it is due; Gather and Clear from then on, on the thread
// that runs the call.
class RequestPlace {
 public:
  // Of `attachment` bytes.
  explicit RequestPlace(size_t attachment) : attachment_(attachment) {}

  size_t attachment() const { return attachment_; }
  // The service has said where: memory for all of it, or empty, in the blocks in which it comes.
  void Answer(Buffer memory);
  bool asked() const { return asked_; }
  // All of it is here.
  void Came();
  // There will be no handler. `answer_comes`: the service has answered, and that is on the way;
  // otherwise it is not asked any more.
  void Fail(bool answer_comes);
  bool failed() const { return failed_; }

  // Memory for [offset, offset + bytes), to be written to by the connection. Empty: it has no
  // place.
  Buffer Lend(size_t offset, size_t bytes) const;
  // A device may write to what was lent last, until as many Drops.
  void Hold();
  void Drop();
  // Bytes of `input` that lie at their place already: behind `head` others.
  size_t Lying(const Buffer& input, size_t head) const;

  // True once.
  bool TakeDue();
  bool due() const { return due_; }
  // The attachment that came at its place, if it has one; the memory is let go of. Counts in
  // `copied` what had come elsewhere.
  Buffer Gather(Buffer came, uint64_t& copied);
  void Clear() { memory_ = AttachmentMemory(); }

 private:
  const size_t attachment_;
  AttachmentMemory memory_;
  int holds_ = 0;
  bool asked_ = true;
  bool whole_ = false;
  bool failed_ = false;
  bool due_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_REQUEST_PLACE_H_
