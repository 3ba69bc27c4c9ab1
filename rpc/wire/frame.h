// SPDX-License-Identifier: Apache-2.0
//
// Frames of baidu_std, in and out (docs/wire.md):
//
//   "PRPC" | u32 body size | u32 meta size | RpcMeta | payload | attachment
//
// Integers are big-endian; the body is all that follows the header. Pure: bytes go
// in, frames come out, and the other way round.

#ifndef FARCALL_RPC_WIRE_FRAME_H_
#define FARCALL_RPC_WIRE_FRAME_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "rpc/wire/plain_meta.h"
#include "rpc/wire/rpc_meta.pb.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

inline constexpr absl::string_view kFrameMagic = "PRPC";
inline constexpr size_t kFrameHeaderSize = 12;

// Up to here the head of a frame is written in one piece to where its call has room for it, and
// copied into the block that the other frames of the turn share; beyond, it gets blocks of its own.
inline constexpr size_t kSmallHead = 1024;

struct FrameLimits {
  // Bytes of meta, payload and attachment together. What a peer can make us hold for
  // one frame. Up to 4 GiB - 1, which is what the header can say.
  size_t max_body_size = size_t{64} << 20;
  // Bytes of the meta. Parsed, a meta can take about 30 times its size, so that this
  // is far below the limit of the body.
  size_t max_meta_size = size_t{1} << 20;
};

// Reuse one: its meta keeps its memory, and cutting then allocates nothing.
struct Frame {
  wire::RpcMeta meta;  // what CutFrame and PeekMeta have read stays, while they are used
  Buffer payload;      // not parsed, perhaps compressed
  Buffer attachment;   // meta.attachment_size() bytes
  // Bytes of all that follows the header, on the wire.
  size_t body_size = 0;
  // Those of the meta among them. The memory of an unusually large one is freed by the
  // next CutFrame, not kept.
  size_t meta_size = 0;
  PlainMetaReader reader;  // of meta
  // The meta has nothing but what `reader` reads: a request or a response with what every call
  // has, compress_type, correlation_id and attachment_size.
  bool plain = false;
  // Of a frame that was cut in place, instead of `payload`: the message lies here, as long as the
  // block is held.
  absl::string_view in_place;
  BlockRef held;

  Buffer TakePayload();
};

// Cuts the frame at the front of `input` off into `frame`, whose old content is dropped,
// and returns 0. If the frame is not complete yet, touches neither and returns the
// number of bytes (> input.size()) that must be there before the next call is worth
// while: kFrameHeaderSize, then the size of the whole frame. That number is the peer's
// word: no memory should be set aside for all of it.
//
// After an error the connection cannot go on; `input` is untouched, and what `frame`
// holds is not specified. kResourceExhausted: over a limit. kInvalidArgument: no magic
// (said at the first byte that differs), a meta that is larger than the body or does not
// parse, an attachment_size below 0 or larger than what follows the meta.
absl::StatusOr<size_t> CutFrame(Buffer& input, const FrameLimits& limits, Frame& frame);
// The two halves of it. Most frames lie in one piece and have nothing unusual. False: the other one
// tells what this frame is; `input` is as it was, and what `frame` holds is not specified.
// `in_place`: if it has no attachment and the message has at most kSmallHead bytes, that stays
// where it is, for who copies it at once: then frame.held is set.
bool CutOrdinaryFrame(Buffer& input, const FrameLimits& limits, Frame& frame,
                      bool in_place = false);
absl::StatusOr<size_t> CutAnyFrame(Buffer& input, const FrameLimits& limits, Frame& frame);

// Fills frame.meta and the sizes from the frame at the front of `input`, the rest of which
// need not be there, and cuts nothing off: who sends it can be asked before its body is kept. As
// CutFrame otherwise; the number returned is kFrameHeaderSize, then where the meta ends.
absl::StatusOr<size_t> PeekMeta(const Buffer& input, const FrameLimits& limits, Frame& frame);

// A message of so many bytes makes no longer head with a PlainMeta.
inline constexpr size_t kSmallMessage = kSmallHead - kFrameHeaderSize - PlainMeta::kMax;

// Writes the head of most frames, as a FrameEncoder does: header, meta and message. `payload` lacks
// no required field and has `payload_size` (<= kSmallMessage) bytes, which were measured just now;
// `attachment_size` is at most 2 GiB - 1. `out` has room for kSmallHead. Returns how many bytes it
// took.
size_t WriteSmallHead(const PlainMeta::Request& meta, const google::protobuf::MessageLite& payload,
                      size_t payload_size, size_t attachment_size, char* out);
size_t WriteSmallHead(const PlainMeta::Answer& meta, const google::protobuf::MessageLite& payload,
                      size_t payload_size, size_t attachment_size, char* out);

// Writes frames: small ones into the caller's memory in one piece, large ones into blocks.
// The attachment is not written here: it follows as it is, without a copy.
class FrameEncoder {
 public:
  // Sets meta.attachment_size (none for 0), and computes and caches all sizes: `meta` and
  // `payload` (null: no payload) outlive the encoder and must not change before its last
  // use. kInvalidArgument: the payload lacks required fields, which are named.
  // kResourceExhausted: meta or payload over 2 GiB - 1 (protobuf), attachment over 2 GiB - 1
  // (attachment_size is an int32), body over 4 GiB - 1.
  static absl::StatusOr<FrameEncoder> Create(wire::RpcMeta& meta,
                                             const google::protobuf::MessageLite* payload,
                                             size_t attachment_size);
  // The same of a meta without anything unusual, and of a payload of so many bytes, which were
  // measured just now.
  static absl::StatusOr<FrameEncoder> Create(PlainMeta& meta,
                                             const google::protobuf::MessageLite& payload,
                                             size_t payload_size, size_t attachment_size);
  // The same for a payload that is serialized already (Pack in pack.h): not written here, it
  // follows the head as it is, before the attachment. Only its size is used.
  static absl::StatusOr<FrameEncoder> Create(wire::RpcMeta& meta, const Buffer& payload,
                                             size_t attachment_size);

  // Bytes of all that is written here: header, meta and, unless it is serialized already,
  // payload.
  size_t head_size() const { return kFrameHeaderSize + meta_size_ + payload_size_; }
  // Writes exactly head_size() bytes.
  void WriteTo(char* out) const;
  // The same bytes, appended to `out` in blocks of `pool`. False: the pool is at its
  // limit, and `out` is as it was.
  bool AppendTo(BlockPool& pool, Buffer& out) const;

 private:
  FrameEncoder(const wire::RpcMeta* meta, const google::protobuf::MessageLite* payload)
      : meta_(meta), payload_(payload) {}
  static absl::StatusOr<FrameEncoder> Create(wire::RpcMeta& meta,
                                             const google::protobuf::MessageLite* payload,
                                             size_t serialized_size, size_t attachment_size);
  bool MeasureBody(size_t serialized_size, size_t attachment_size);
  bool AddBody(size_t payload_size, size_t serialized_size, size_t attachment_size);
  bool AddMeta(size_t size);
  absl::Status WhyNot(size_t serialized_size, size_t attachment_size) const;
  void WriteHeader(char* out) const;

  const wire::RpcMeta* meta_;  // null: plain_ is the meta
  absl::string_view plain_;
  const google::protobuf::MessageLite* payload_;
  size_t meta_size_ = 0;
  size_t payload_size_ = 0;
  size_t following_size_ = 0;  // what is not written here
};

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_FRAME_H_
