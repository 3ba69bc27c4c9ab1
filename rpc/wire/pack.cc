// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/pack.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/io/coded_stream.h"
#include "rpc/wire/checksum.h"
#include "rpc/wire/compress.h"
#include "rpc/wire/payload.h"
#include "transport/base/big_endian.h"
#include "transport/base/check.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

constexpr size_t kCrcSize = 4;

absl::Status CheckChecksumType(int type) {
  if (type == CHECKSUM_TYPE_NONE || type == CHECKSUM_TYPE_CRC32C) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("checksum_type ", type, " is unknown; there are 0 none and 1 CRC32C"));
}

absl::Status CheckContentType(int type) {
  if (type == wire::CONTENT_PROTOBUF) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("content_type ", type, " is not spoken here: send 0, protobuf"));
}

absl::StatusOr<Buffer> Serialize(const google::protobuf::MessageLite& message, size_t size,
                                 BlockPool& pool) {
  BlockOutputStream stream(pool, size);
  {
    google::protobuf::io::CodedOutputStream coded(&stream);
    message.SerializeWithCachedSizes(&coded);
    coded.Trim();
    if (coded.HadError()) {
      return absl::ResourceExhaustedError(absl::StrCat("no blocks for a message of ", size,
                                                       " bytes (RuntimeOptions::pool.max_bytes)"));
    }
  }
  Buffer bytes = stream.Take();
  Check(bytes.size() == size, "a message stays as it is while it is written");
  return bytes;
}

uint32_t PayloadChecksum(const Buffer& payload, const Buffer& attachment, bool with_attachment) {
  const uint32_t crc = Crc32c(payload);
  return MaskCrc32c(with_attachment ? Crc32c(attachment, crc) : crc);
}

void SetChecksum(const Buffer& payload, const Buffer& attachment, wire::RpcMeta& meta) {
  const bool with_attachment = !attachment.empty();
  const uint32_t checksum = PayloadChecksum(payload, attachment, with_attachment);
  char bytes[kCrcSize];
  PutBigEndian(checksum, bytes);
  meta.set_checksum_type(CHECKSUM_TYPE_CRC32C);
  meta.set_checksum_value(bytes, kCrcSize);
  if (with_attachment) meta.set_checksum_with_attachment(true);
}

absl::Status CheckChecksum(const PayloadInfo& info, const Buffer& payload,
                           const Buffer& attachment) {
  if (info.checksum_type == CHECKSUM_TYPE_NONE) return absl::OkStatus();
  if (info.checksum_size != kCrcSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("checksum_value has ", info.checksum_size, " bytes; CRC32C has ", kCrcSize));
  }
  const uint32_t found = PayloadChecksum(payload, attachment, info.checksum_with_attachment);
  if (found == info.checksum) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "wrong CRC32C of a payload of ", payload.size(), " bytes",
      info.checksum_with_attachment ? absl::StrCat(" and an attachment of ", attachment.size())
                                    : std::string(),
      ": checksum_value is ", absl::Hex(info.checksum, absl::kZeroPad8), ", and the bytes have ",
      absl::Hex(found, absl::kZeroPad8), "; they were changed on the way"));
}

}  // namespace

PayloadInfo PayloadInfo::Of(const wire::RpcMeta& meta) {
  PayloadInfo info;
  info.compress_type = meta.compress_type();
  info.checksum_type = meta.checksum_type();
  info.checksum_with_attachment = meta.checksum_with_attachment();
  info.content_type = meta.content_type();
  const absl::string_view value = meta.checksum_value();
  info.checksum_size = value.size();
  if (value.size() >= kCrcSize) info.checksum = GetBigEndian<uint32_t>(value.data());
  return info;
}

absl::StatusOr<Buffer> Pack(const google::protobuf::MessageLite& message, const Packing& packing,
                            const Buffer& attachment, BlockPool& pool, wire::RpcMeta& meta) {
  if (absl::Status status = CheckCompressType(packing.compress); !status.ok()) return status;
  if (absl::Status status = CheckChecksumType(packing.checksum); !status.ok()) return status;
  if (absl::Status status = CheckRequiredFields(message); !status.ok()) return status;
  const size_t size = message.ByteSizeLong();
  if (size > INT_MAX) {
    return absl::OutOfRangeError(absl::StrCat(
        "message of ", size, " bytes: protobuf carries at most ", INT_MAX, "; use an attachment"));
  }
  absl::StatusOr<Buffer> payload = Serialize(message, size, pool);
  meta.clear_compress_type();
  if (payload.ok() && packing.compress != COMPRESS_TYPE_NONE && size > 0) {
    payload = Compress(packing.compress, *payload, pool);
    meta.set_compress_type(packing.compress);
  }
  if (!payload.ok()) return payload;
  meta.clear_checksum_type();
  meta.clear_checksum_value();
  meta.clear_checksum_with_attachment();
  if (packing.checksum == CHECKSUM_TYPE_CRC32C) SetChecksum(*payload, attachment, meta);
  return payload;
}

absl::Status Unpack(const PayloadInfo& info, const Buffer& payload, const Buffer& attachment,
                    size_t max_size, BlockPool& pool, google::protobuf::MessageLite& message) {
  if (info.plain()) return ParsePayload(payload, message);
  // What is unknown is said first: it explains everything else that may be wrong.
  if (absl::Status status = CheckContentType(info.content_type); !status.ok()) return status;
  if (absl::Status status = CheckCompressType(info.compress_type); !status.ok()) return status;
  if (absl::Status status = CheckChecksumType(info.checksum_type); !status.ok()) return status;
  if (absl::Status status = CheckChecksum(info, payload, attachment); !status.ok()) return status;
  if (info.compress_type == COMPRESS_TYPE_NONE) return ParsePayload(payload, message);
  const absl::StatusOr<Buffer> bytes = Decompress(info.compress_type, payload, max_size, pool);
  if (!bytes.ok()) return bytes.status();
  return ParsePayload(*bytes, message);
}

}  // namespace farcall
