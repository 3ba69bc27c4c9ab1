// SPDX-License-Identifier: Apache-2.0
//
// Frames of the link, on the lifeline and on every RDMA connection under it:
//
//   u8 type | u8 flags | u16 zero | u32 length | u64 offset | u64 acknowledged | payload
//
// Integers are big-endian, the length is that of the payload. What they mean is written in
// switching_stream.h. Pure: bytes go in, frames come out, and the other way round.

#ifndef FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_H_
#define FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/link_options.h"

namespace farcall {

inline constexpr size_t kLinkHeaderSize = 24;
// Of the header and a number behind it.
inline constexpr size_t kMaxLinkHead = kLinkHeaderSize + 8;
inline constexpr size_t kMaxLinkControl = 4096;

// The numbers travel: never reuse one.
enum class LinkFrameType : uint8_t {
  kData = 1,            // bytes of the stream, at least one
  kAck = 2,             // nothing but the acknowledged offset
  kUpgradeAsk = 3,      // client: what it would like to be upgraded to
  kUpgradeOffer = 4,    // server: where, and with which token
  kUpgradeDecline = 5,  // server: why not
  kResume = 6,          // a generation was given up; its bytes go on from here
  kPing = 7,
  kPong = 8,
  kBye = 9,            // the stream ends at this offset
  kUpgradeSetUp = 10,  // a step of a set-up without rdma_cm, to a peer that has shown to know it
  kRailAck = 11,       // bytes that came on a generation; where several rails are agreed on
};

// "DATA", for messages.
absl::string_view Name(LinkFrameType type);

struct LinkFrame {
  LinkFrameType type = LinkFrameType::kAck;
  // kData: of the payload's first byte. kResume, kPong: bytes received in a row. kBye: bytes
  // of the whole stream. kRailAck: bytes of DATA that have come on the generation. Others: 0.
  uint64_t offset = 0;
  // Bytes received in a row that the sender need not keep.
  uint64_t acknowledged = 0;
  // kResume, kRailAck: the generation, 1 to 2^32 - 1. kPing, kPong: a sequence number. It is their
  // payload on the wire, as a u64, whose upper half is `arrival`. Others: 0.
  uint64_t number = 0;
  // kRailAck: when the last of those bytes came, by the sender's clock (StampOf). Others: 0.
  uint32_t arrival = 0;
  // kData: the bytes. The upgrade frames: a message of the link. Others: empty.
  Buffer payload = {};
};

// Cuts the frame at the front of `input` off into `frame`, whose old content is dropped,
// and returns 0; a payload is cut out, not copied. If the frame is not complete yet, touches
// neither and returns the number of bytes (> input.size()) that must be there: first
// kLinkHeaderSize, then the whole frame.
//
// After an error the connection cannot go on, and `input` is untouched. kInvalidArgument:
// an unknown type, flags, a length or offset that the type does not have. kResourceExhausted:
// a payload over the limit of its type.
absl::StatusOr<size_t> CutLinkFrame(Buffer& input, LinkFrame& frame);

// Of what CutLinkFrame has looked at and found not complete: if it is a DATA frame whose header is
// there, cuts the header off into `frame`, whose payload it leaves empty. False: it is none.
bool CutDataHeader(Buffer& input, LinkFrame& frame);

// The bytes of `frame`, which is what CutLinkFrame may give, before its payload of `bytes`: in
// `out`.
absl::string_view EncodeLinkHead(const LinkFrame& frame, size_t bytes, char (&out)[kMaxLinkHead]);

// Writes frames: headers into blocks of a pool, close together, payloads as they are. If
// the pool is at its limit, headers go to the ordinary heap. One thread at a time.
class LinkFrameWriter {
 public:
  // `pool` outlives this.
  explicit LinkFrameWriter(BlockPool& pool) : heads_(pool) {}

  Buffer Encode(LinkFrame&& frame);

 private:
  BlockWriter heads_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_H_
