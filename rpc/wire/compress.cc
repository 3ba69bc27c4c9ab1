// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/compress.h"

#include "absl/strings/str_cat.h"
#include "rpc/types.h"
#include "rpc/wire/codecs.h"

namespace farcall {

absl::Status CheckCompressType(int type) {
  if (type >= COMPRESS_TYPE_NONE && type < kCompressTypes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "compress_type ", type, " is unknown; there are 0 none, 1 snappy, 2 gzip, 3 zlib and 4 lz4"));
}

absl::StatusOr<Buffer> Compress(int type, const Buffer& data, BlockPool& pool) {
  switch (type) {
    case COMPRESS_TYPE_SNAPPY:
      return SnappyCompress(data, pool);
    case COMPRESS_TYPE_GZIP:
      return ZlibCompress(ZlibWrapper::kGzip, data, pool);
    case COMPRESS_TYPE_ZLIB:
      return ZlibCompress(ZlibWrapper::kZlib, data, pool);
    case COMPRESS_TYPE_LZ4:
      return Lz4Compress(data, pool);
    default:
      if (absl::Status status = CheckCompressType(type); !status.ok()) return status;
      return absl::InvalidArgumentError("compress_type 0 does not compress");
  }
}

absl::StatusOr<Buffer> Decompress(int type, const Buffer& data, size_t max_size, BlockPool& pool) {
  switch (type) {
    case COMPRESS_TYPE_SNAPPY:
      return SnappyDecompress(data, max_size, pool);
    case COMPRESS_TYPE_GZIP:
      return ZlibDecompress(ZlibWrapper::kGzip, data, max_size, pool);
    case COMPRESS_TYPE_ZLIB:
      return ZlibDecompress(ZlibWrapper::kZlib, data, max_size, pool);
    case COMPRESS_TYPE_LZ4:
      return Lz4Decompress(data, max_size, pool);
    default:
      if (absl::Status status = CheckCompressType(type); !status.ok()) return status;
      return absl::InvalidArgumentError("compress_type 0 does not compress");
  }
}

}  // namespace farcall
