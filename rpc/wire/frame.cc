// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/frame.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/wire/plain_meta.h"
#include "transport/base/big_endian.h"

namespace farcall {
namespace {

// Bytes of a meta, which usually has 30 to 100. What is larger leaves more memory in a
// reused Frame than the next ones are likely to need.
constexpr size_t kOrdinaryMetaSize = 4096;

struct FrameHeader {
  size_t body_size = 0;
  size_t meta_size = 0;
};

absl::Status CheckFrameMagic(absl::string_view front) {
  const absl::string_view magic = front.substr(0, kFrameMagic.size());
  if (magic == kFrameMagic.substr(0, magic.size())) return absl::OkStatus();
  // An alert, or a handshake, of TLS or SSL 3: RFC 8446 section 5.1.
  const bool tls = (magic[0] == 0x15 || magic[0] == 0x16) && (magic.size() < 2 || magic[1] == 3);
  return absl::InvalidArgumentError(absl::StrCat(
      "no RPC frame, which would begin with \"PRPC\": the bytes are \"", absl::CHexEscape(magic),
      tls ? "\"; the peer speaks TLS, and this end does not: set tls in the options of both or none"
          : "\"; does the peer speak another protocol?"));
}

absl::Status CheckSizes(const FrameHeader& header, const FrameLimits& limits) {
  if (header.body_size > limits.max_body_size) {
    return absl::ResourceExhaustedError(
        absl::StrCat("frame with a body of ", header.body_size, " bytes is over max_body_size, ",
                     limits.max_body_size, ": send less at once, or raise the limit here"));
  }
  if (header.meta_size > header.body_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed frame: its meta of ", header.meta_size,
                     " bytes is larger than its body of ", header.body_size));
  }
  if (header.meta_size > limits.max_meta_size) {
    return absl::ResourceExhaustedError(absl::StrCat("frame with a meta of ", header.meta_size,
                                                     " bytes is over the limit, ",
                                                     limits.max_meta_size));
  }
  return absl::OkStatus();
}

bool ParseMetaBytes(const char* bytes, size_t size, Frame& frame) {
  frame.plain = frame.reader.Read({bytes, size}, frame.meta);
  if (frame.plain) [[likely]]
    return true;
  // Larger only if a limit was set beyond what protobuf can do.
  return size <= INT_MAX && frame.meta.ParsePartialFromArray(bytes, static_cast<int>(size));
}

// 0, or kFrameHeaderSize if the header of the frame at the front is not there yet.
absl::StatusOr<size_t> ReadHeader(const Buffer& input, const FrameLimits& limits,
                                  FrameHeader& header) {
  char scratch[kFrameHeaderSize];
  const absl::string_view front = input.Front(std::min(input.size(), kFrameHeaderSize), scratch);
  const bool whole = front.size() == kFrameHeaderSize;
  if (!whole || std::memcmp(front.data(), kFrameMagic.data(), kFrameMagic.size()) != 0) {
    if (absl::Status status = CheckFrameMagic(front); !status.ok()) return status;
    return kFrameHeaderSize;
  }
  header = {.body_size = GetBigEndian<uint32_t>(front.data() + 4),
            .meta_size = GetBigEndian<uint32_t>(front.data() + 8)};
  if (absl::Status status = CheckSizes(header, limits); !status.ok()) return status;
  return 0;
}

// True: the header of the frame at the front lies in one piece, and is within the limits.
bool ReadOrdinaryHeader(absl::string_view front, const FrameLimits& limits, FrameHeader& header) {
  if (front.size() < kFrameHeaderSize ||
      std::memcmp(front.data(), kFrameMagic.data(), kFrameMagic.size()) != 0) {
    return false;
  }
  header = {.body_size = GetBigEndian<uint32_t>(front.data() + 4),
            .meta_size = GetBigEndian<uint32_t>(front.data() + 8)};
  return header.body_size <= limits.max_body_size && header.meta_size <= header.body_size &&
         header.meta_size <= limits.max_meta_size;
}

// `input` holds the header and the meta. A meta that is spread over slices is copied into
// one piece, not parsed by BufferInputStream: where a bounded message is malformed,
// libprotobuf 3.21 backs up over more than the last piece, which a stream need not bear.
bool ParseMeta(const Buffer& input, size_t meta_size, Frame& frame) {
  const absl::string_view first = input.slices().front().view();
  if (first.size() >= kFrameHeaderSize + meta_size) {
    return ParseMetaBytes(first.data() + kFrameHeaderSize, meta_size, frame);
  }
  if (meta_size <= kOrdinaryMetaSize) {
    char scratch[kOrdinaryMetaSize];
    input.CopyTo(scratch, meta_size, kFrameHeaderSize);
    return ParseMetaBytes(scratch, meta_size, frame);
  }
  const auto copy = std::make_unique_for_overwrite<char[]>(meta_size);
  input.CopyTo(copy.get(), meta_size, kFrameHeaderSize);
  return ParseMetaBytes(copy.get(), meta_size, frame);
}

// The same, into `frame`, whose own meta may be an older one.
absl::Status ReadMeta(const Buffer& input, const FrameHeader& header, Frame& frame) {
  if (frame.meta_size > kOrdinaryMetaSize) {
    frame.meta = wire::RpcMeta();
    frame.reader = PlainMetaReader();
  }
  frame.body_size = header.body_size;
  frame.meta_size = header.meta_size;
  if (ParseMeta(input, header.meta_size, frame)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("malformed frame: its meta of ", header.meta_size, " bytes does not parse"));
}

absl::Status CheckAttachmentSize(const FrameHeader& header, int64_t attachment_size) {
  const size_t rest = header.body_size - header.meta_size;
  if (attachment_size >= 0 && static_cast<uint64_t>(attachment_size) <= rest) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("malformed frame: attachment_size is ",
                                                 attachment_size, ", and ", rest,
                                                 " bytes follow the meta"));
}

}  // namespace

bool CutOrdinaryFrame(Buffer& input, const FrameLimits& limits, Frame& frame, bool in_place) {
  if (input.empty() || frame.meta_size > kOrdinaryMetaSize) return false;
  const absl::string_view front = input.slices().front().view();
  FrameHeader header;
  if (!ReadOrdinaryHeader(front, limits, header)) return false;
  if (header.meta_size > kOrdinaryMetaSize) return false;
  if (front.size() < kFrameHeaderSize + header.body_size) return false;
  const char* const meta = front.data() + kFrameHeaderSize;
  frame.plain = frame.reader.Read({meta, header.meta_size}, frame.meta);
  if (!frame.plain) return false;
  const auto attachment = static_cast<size_t>(frame.meta.attachment_size());
  const size_t rest = header.body_size - header.meta_size;
  if (attachment > rest) return false;  // or below 0
  frame.body_size = header.body_size;
  frame.meta_size = header.meta_size;
  frame.payload.Clear();
  frame.attachment.Clear();
  if (in_place && attachment == 0 && rest <= kSmallHead) {
    frame.held = input.slices().front().block;
    frame.in_place = {meta + header.meta_size, rest};
    input.RemoveFront(kFrameHeaderSize + header.body_size);
    return true;
  }
  frame.held = BlockRef();
  input.RemoveFront(kFrameHeaderSize + header.meta_size);
  input.CutFrontTo(rest - attachment, frame.payload);
  if (attachment > 0) input.CutFrontTo(attachment, frame.attachment);
  return true;
}

Buffer Frame::TakePayload() {
  if (!held) return std::move(payload);
  Buffer taken;
  const auto offset = static_cast<uint32_t>(in_place.data() - held->bytes());
  taken.Append(held, offset, static_cast<uint32_t>(in_place.size()));
  held = BlockRef();
  return taken;
}

absl::StatusOr<size_t> CutFrame(Buffer& input, const FrameLimits& limits, Frame& frame) {
  if (CutOrdinaryFrame(input, limits, frame)) [[likely]]
    return 0;
  return CutAnyFrame(input, limits, frame);
}

absl::StatusOr<size_t> CutAnyFrame(Buffer& input, const FrameLimits& limits, Frame& frame) {
  FrameHeader header;
  if (auto need = ReadHeader(input, limits, header); !need.ok() || *need != 0) return need;
  const size_t frame_size = kFrameHeaderSize + header.body_size;
  if (input.size() < frame_size) return frame_size;

  if (absl::Status status = ReadMeta(input, header, frame); !status.ok()) return status;
  const int64_t attachment_size = frame.meta.attachment_size();
  if (absl::Status status = CheckAttachmentSize(header, attachment_size); !status.ok()) {
    return status;
  }

  frame.held = BlockRef();
  input.RemoveFront(kFrameHeaderSize + header.meta_size);
  const auto attachment_bytes = static_cast<size_t>(attachment_size);
  frame.payload = input.CutFront(header.body_size - header.meta_size - attachment_bytes);
  if (attachment_bytes > 0) {
    frame.attachment = input.CutFront(attachment_bytes);
  } else {
    frame.attachment.Clear();
  }
  return 0;
}

absl::StatusOr<size_t> PeekMeta(const Buffer& input, const FrameLimits& limits, Frame& frame) {
  FrameHeader header;
  if (auto need = ReadHeader(input, limits, header); !need.ok() || *need != 0) return need;
  const size_t meta_end = kFrameHeaderSize + header.meta_size;
  if (input.size() < meta_end) return meta_end;
  if (absl::Status status = ReadMeta(input, header, frame); !status.ok()) return status;
  return 0;
}

}  // namespace farcall
