// SPDX-License-Identifier: Apache-2.0
//
// IncomingStream: what comes in on one RDMA connection, in the order of the stream: bytes of
// messages, and references, whose bytes are fetched by RDMA READ first. What stands behind a
// reference waits until its bytes are here.
//
//   reference: waiting --Place--> placed --NextRead--> being read --OnRead--> bytes
//
// A reference is given its memory when everything before it was taken, or is placed too: the
// user then knows what the bytes before it say, and may have a place for what follows.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_INCOMING_STREAM_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_INCOMING_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "transport/buffer/buffer.h"
#include "transport/rdma/flow/message_header.h"

namespace farcall {

// Pure. One thread at a time.
class IncomingStream {
 public:
  static constexpr size_t kMaxSegments = 16;
  // Bytes of one READ: a large piece takes several, so that the peer's device answers one while it
  // fetches the bytes of the next.
  static constexpr uint32_t kMaxRead = 128 << 10;

  // Bytes that need memory: `bytes` of the stream, beginning `ahead` behind what was taken.
  struct Place {
    size_t ahead = 0;
    uint32_t bytes = 0;
  };
  // Of one RDMA READ.
  struct Read {
    uint64_t address = 0;
    uint32_t key = 0;
    uint32_t bytes = 0;
    uint32_t segment_count = 0;
    std::array<Buffer::Slice, kMaxSegments> segments;  // to be written, first to last
  };

  // What the peer may have waiting here: as many references as it has windows.
  explicit IncomingStream(uint32_t most_references) : most_references_(most_references) {}

  // --- What comes.

  // Where the next bytes are to be appended, some at least.
  Buffer& Tail();
  // An error: the peer does not keep to what it said.
  absl::Status AddReference(const RemoteBytes& bytes);

  // --- What is here.

  // Bytes that came since the last Take.
  bool has_bytes() const { return fresh_; }
  // All that is here, behind what the caller has left there.
  Buffer& Take() {
    fresh_ = false;
    return here_;
  }
  // No reference stands before what is to come.
  bool clear() const { return items_.empty(); }
  // References that were read, or dropped, since the connection began.
  uint64_t read() const { return read_; }

  // --- Reading.

  std::optional<Place> NextToPlace() const;
  // Memory for all or the first of NextToPlace(): not empty. `hold` (may be null) is dropped when
  // the reference is over, or by LetGo: no READ writes there any more.
  void SetPlace(Buffer memory, std::shared_ptr<void> hold = nullptr);
  // The next READ to be posted, of what is placed, kMaxRead bytes at most; they complete in this
  // order. False: none.
  bool NextRead(size_t max_segments, Read& read);
  // The oldest READ that was posted has completed, `good` or not: then all that waits never
  // comes. The bytes that it brought.
  uint32_t OnRead(bool good);
  uint64_t reading_bytes() const { return reading_bytes_; }
  uint32_t reading() const { return static_cast<uint32_t>(under_way_.size()); }
  // References of which nothing is being read count as read: their bytes are not wanted.
  void DropUnread();
  // Nothing writes to any memory any more, and no READ will be posted: lets go of it.
  void LetGo();

 private:
  struct Item {
    bool reference = false;
    bool dropped = false;
    RemoteBytes remote{};  // of a reference
    Buffer bytes = {};     // of a reference, its memory
    // Of that memory, as far as it is not ours.
    std::vector<std::shared_ptr<void>> holds = {};
    uint32_t posted = 0;  // bytes
    uint32_t done = 0;

    bool placed() const { return bytes.size() == remote.length; }
    bool complete() const { return !reference || dropped || done == remote.length; }
  };

  void Advance();
  uint32_t most_references_;
  Buffer here_;
  bool fresh_ = false;
  // The first is a reference that is not complete.
  std::deque<Item> items_;
  uint32_t references_ = 0;  // in items_
  uint64_t read_ = 0;
  std::deque<uint32_t> under_way_;  // bytes of each READ
  uint64_t reading_bytes_ = 0;
  bool failed_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_INCOMING_STREAM_H_
