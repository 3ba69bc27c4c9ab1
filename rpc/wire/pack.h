// SPDX-License-Identifier: Apache-2.0
//
// From a message to its payload in a frame and back: compression and checksum, as
// docs/wire.md says. Pure.

#ifndef FARCALL_RPC_WIRE_PACK_H_
#define FARCALL_RPC_WIRE_PACK_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"
#include "rpc/types.h"
#include "rpc/wire/rpc_meta.pb.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// What a sender chose for a message.
struct Packing {
  CompressType compress = COMPRESS_TYPE_NONE;
  ChecksumType checksum = CHECKSUM_TYPE_NONE;

  // Nothing to do: FrameEncoder writes the message itself, with one copy less than Pack.
  bool plain() const { return compress == COMPRESS_TYPE_NONE && checksum == CHECKSUM_TYPE_NONE; }
};

// What a received meta says of its payload: copied out of it, so that the payload can be
// unpacked on another thread when the meta is gone. The numbers are the peer's and may be
// any.
struct PayloadInfo {
  int compress_type = COMPRESS_TYPE_NONE;
  int checksum_type = CHECKSUM_TYPE_NONE;
  size_t checksum_size = 0;  // bytes of checksum_value; 4 is sound for CRC32C
  uint32_t checksum = 0;     // the first 4 of them, big-endian; 0 if there are fewer
  bool checksum_with_attachment = false;
  int content_type = 0;

  static PayloadInfo Of(const wire::RpcMeta& meta);

  // The payload is the message as protobuf writes it, and nothing is to be verified.
  bool plain() const {
    return compress_type == COMPRESS_TYPE_NONE && checksum_type == CHECKSUM_TYPE_NONE &&
           content_type == 0;
  }
};

// `message` as it travels, in blocks of `pool`. Sets, or clears, compress_type and the fields
// of the checksum in `meta`, and nothing else there. The checksum covers the payload as it
// travels and then `attachment`, which is not changed and follows the payload in the frame.
// An empty message is not compressed: it travels as type 0, whatever `packing` says.
//
// Any thread, with no loop held: compression takes its time. After an error `meta` may hold
// some of these fields. kInvalidArgument: required fields are missing; a compress or checksum
// type that does not exist. kOutOfRange: over what protobuf or the compressor can hold (2 GiB).
// kResourceExhausted: `pool` is at its limit.
absl::StatusOr<Buffer> Pack(const google::protobuf::MessageLite& message, const Packing& packing,
                            const Buffer& attachment, BlockPool& pool, wire::RpcMeta& meta);

// Replaces `message` by what `payload` holds: verifies the checksum, decompresses and parses.
// A plain payload costs what ParsePayload costs. `max_size`: bytes that the payload may have
// once it is decompressed; the limit is kept while it is decompressed, so that no more than
// that and a block is ever allocated.
//
// Any thread, with no loop held. After an error `message` may be partly filled. Errors name
// the type and what is wrong. kInvalidArgument: compress, checksum or content type unknown;
// bytes that are not of their compress type; not the message. kDataLoss: wrong checksum.
// kOutOfRange: over `max_size`. kResourceExhausted: `pool` is at its limit, for now.
absl::Status Unpack(const PayloadInfo& info, const Buffer& payload, const Buffer& attachment,
                    size_t max_size, BlockPool& pool, google::protobuf::MessageLite& message);

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_PACK_H_
