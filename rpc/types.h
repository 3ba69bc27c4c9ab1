// SPDX-License-Identifier: Apache-2.0
//
// Small choices that options, controllers and the wire share. Names and numbers are brpc's.

#ifndef FARCALL_RPC_TYPES_H_
#define FARCALL_RPC_TYPES_H_

namespace farcall {

// RpcMeta.compress_type. Attachments are never compressed.
enum CompressType : int {
  COMPRESS_TYPE_NONE = 0,
  COMPRESS_TYPE_SNAPPY = 1,  // the block format, not the framed one
  COMPRESS_TYPE_GZIP = 2,    // RFC 1952
  COMPRESS_TYPE_ZLIB = 3,    // RFC 1950
  COMPRESS_TYPE_LZ4 = 4,     // the frame format
};
inline constexpr int kCompressTypes = 5;

// RpcMeta.checksum_type: over the payload as it travels, and the attachment.
enum ChecksumType : int {
  CHECKSUM_TYPE_NONE = 0,
  CHECKSUM_TYPE_CRC32C = 1,
};

// How the calls of a channel share connections to one server.
enum ConnectionType : int {
  CONNECTION_TYPE_SINGLE = 1,  // all calls on one
  CONNECTION_TYPE_POOLED = 2,  // one call at a time on each; kept for the next call
  CONNECTION_TYPE_SHORT = 4,   // one for each call, closed after it
};

// What TLS means for use_rdma: RDMA carries the bytes as they are, beside the TLS connection
// that admitted it.
enum class RdmaWithTls {
  kRefuse,  // calls stay on TCP, with that reason; require_rdma is an error
  kAllow,   // the handshake is authenticated by TLS; the bytes on RDMA are neither encrypted nor
            // sealed
};

}  // namespace farcall

#endif  // FARCALL_RPC_TYPES_H_
