// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/frames/frame.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transport/base/big_endian.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr size_t kNumberSize = 8;
// A stream goes on behind it, for as many bytes as a frame may have.
constexpr uint64_t kMaxOffset = std::numeric_limits<uint64_t>::max() - kMaxLinkData;
constexpr uint8_t kLastType = static_cast<uint8_t>(LinkFrameType::kRailAck);

// How long a payload may be, and whether there is an offset.
struct Shape {
  size_t least = 0;
  size_t most = 0;
  bool has_offset = false;
  bool has_number = false;
};

constexpr Shape kData = {.least = 1, .most = kMaxLinkData, .has_offset = true};

constexpr Shape ShapeOf(LinkFrameType type) {
  switch (type) {
    case LinkFrameType::kData:
      return kData;
    case LinkFrameType::kAck:
      return {};
    case LinkFrameType::kUpgradeAsk:
    case LinkFrameType::kUpgradeOffer:
    case LinkFrameType::kUpgradeDecline:
    case LinkFrameType::kUpgradeSetUp:
      return {.most = kMaxLinkControl};
    case LinkFrameType::kResume:
    case LinkFrameType::kPong:
    case LinkFrameType::kRailAck:
      return {.least = kNumberSize, .most = kNumberSize, .has_offset = true, .has_number = true};
    case LinkFrameType::kPing:
      return {.least = kNumberSize, .most = kNumberSize, .has_number = true};
    case LinkFrameType::kBye:
      return {.has_offset = true};
  }
  return {};
}

struct Header {
  LinkFrameType type;
  uint32_t length;
  uint64_t offset;
  uint64_t acknowledged;
};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed link frame: ", what));
}

absl::Status CheckLength(const Header& header, const Shape& shape) {
  if (header.length >= shape.least && header.length <= shape.most) return absl::OkStatus();
  const std::string what = absl::StrCat(Name(header.type), " with a payload of ", header.length,
                                        " bytes, where ", shape.least, " to ", shape.most, " are");
  if (header.length < shape.least || shape.most <= kNumberSize) return Malformed(what);
  return absl::ResourceExhaustedError(absl::StrCat("link frame over the limit: ", what));
}

absl::StatusOr<Header> ParseHeader(const char* bytes) {
  const auto type = static_cast<uint8_t>(bytes[0]);
  if (type == 0 || type > kLastType) {
    return Malformed(absl::StrCat("its type is ", type, ", which this version does not know"));
  }
  const Header header{.type = static_cast<LinkFrameType>(type),
                      .length = GetBigEndian<uint32_t>(bytes + 4),
                      .offset = GetBigEndian<uint64_t>(bytes + 8),
                      .acknowledged = GetBigEndian<uint64_t>(bytes + 16)};
  if (const uint32_t flags = GetBigEndian<uint32_t>(bytes) & 0xffffff; flags != 0) {
    return Malformed(absl::StrCat(Name(header.type), " with the flags 0x",
                                  absl::Hex(flags, absl::kZeroPad6), ", where 0 is"));
  }
  const Shape shape = ShapeOf(header.type);
  if (absl::Status status = CheckLength(header, shape); !status.ok()) return status;
  if (header.offset != 0 && !shape.has_offset) {
    return Malformed(absl::StrCat(Name(header.type), " with the offset ", header.offset));
  }
  if (header.offset > kMaxOffset) {
    return Malformed(absl::StrCat(Name(header.type), " with the offset ", header.offset,
                                  ", behind which no stream goes on"));
  }
  return header;
}

// Most frames: DATA that is all there, and as it must be. False: CutLinkFrame says what it is.
bool CutPlainData(Buffer& input, const char* bytes, LinkFrame& frame) {
  constexpr auto kNoFlags = static_cast<uint32_t>(LinkFrameType::kData) << 24;
  const size_t length = GetBigEndian<uint32_t>(bytes + 4);
  const uint64_t offset = GetBigEndian<uint64_t>(bytes + 8);
  if (GetBigEndian<uint32_t>(bytes) != kNoFlags || length < kData.least || length > kData.most ||
      offset > kMaxOffset || input.size() < kLinkHeaderSize + length) {
    return false;
  }
  frame.type = LinkFrameType::kData;
  frame.offset = offset;
  frame.acknowledged = GetBigEndian<uint64_t>(bytes + 16);
  frame.number = 0;
  frame.arrival = 0;
  input.RemoveFront(kLinkHeaderSize);
  frame.payload = input.size() == length ? std::move(input) : input.CutFront(length);
  return true;
}

}  // namespace

absl::string_view Name(LinkFrameType type) {
  switch (type) {
    case LinkFrameType::kData:
      return "DATA";
    case LinkFrameType::kAck:
      return "ACK";
    case LinkFrameType::kUpgradeAsk:
      return "UPGRADE_ASK";
    case LinkFrameType::kUpgradeOffer:
      return "UPGRADE_OFFER";
    case LinkFrameType::kUpgradeDecline:
      return "UPGRADE_DECLINE";
    case LinkFrameType::kResume:
      return "RESUME";
    case LinkFrameType::kPing:
      return "PING";
    case LinkFrameType::kPong:
      return "PONG";
    case LinkFrameType::kBye:
      return "BYE";
    case LinkFrameType::kUpgradeSetUp:
      return "UPGRADE_SETUP";
    case LinkFrameType::kRailAck:
      return "RAIL_ACK";
  }
  return "unknown";
}

absl::StatusOr<size_t> CutLinkFrame(Buffer& input, LinkFrame& frame) {
  if (input.size() < kLinkHeaderSize) return kLinkHeaderSize;
  char scratch[kLinkHeaderSize + kNumberSize];
  const char* const bytes = input.Front(kLinkHeaderSize, scratch).data();
  if (CutPlainData(input, bytes, frame)) return 0;
  const auto header = ParseHeader(bytes);
  if (!header.ok()) return header.status();
  const size_t size = kLinkHeaderSize + header->length;
  if (input.size() < size) return size;

  uint64_t number = 0;
  uint32_t arrival = 0;
  const bool has_number = ShapeOf(header->type).has_number;
  if (has_number) {
    number = GetBigEndian<uint64_t>(input.Front(size, scratch).data() + kLinkHeaderSize);
    if (header->type == LinkFrameType::kRailAck) {
      arrival = static_cast<uint32_t>(number >> 32);
      number = static_cast<uint32_t>(number);
    }
    const bool of_generation =
        header->type == LinkFrameType::kResume || header->type == LinkFrameType::kRailAck;
    if (of_generation && (number == 0 || number > UINT32_MAX)) {
      return Malformed(absl::StrCat(Name(header->type), " of generation ", number));
    }
  }
  frame.type = header->type;
  frame.offset = header->offset;
  frame.acknowledged = header->acknowledged;
  frame.number = number;
  frame.arrival = arrival;
  input.RemoveFront(has_number ? size : kLinkHeaderSize);
  frame.payload = has_number ? Buffer() : input.CutFront(header->length);
  return 0;
}

bool CutDataHeader(Buffer& input, LinkFrame& frame) {
  if (input.size() < kLinkHeaderSize) return false;
  char scratch[kLinkHeaderSize];
  const auto header = ParseHeader(input.Front(kLinkHeaderSize, scratch).data());
  if (!header.ok() || header->type != LinkFrameType::kData) return false;
  frame = {.type = header->type, .offset = header->offset, .acknowledged = header->acknowledged};
  input.RemoveFront(kLinkHeaderSize);
  return true;
}

absl::string_view EncodeLinkHead(const LinkFrame& frame, size_t bytes, char (&out)[kMaxLinkHead]) {
  const Shape shape = ShapeOf(frame.type);
  const size_t length = shape.has_number ? kNumberSize : bytes;
  Check(length >= shape.least && length <= shape.most, "a frame is as long as its type allows");
  PutBigEndian(static_cast<uint32_t>(frame.type) << 24, out);
  PutBigEndian(static_cast<uint32_t>(length), out + 4);
  PutBigEndian(frame.offset, out + 8);
  PutBigEndian(frame.acknowledged, out + 16);
  if (!shape.has_number) return {out, kLinkHeaderSize};
  PutBigEndian(frame.number | uint64_t{frame.arrival} << 32, out + kLinkHeaderSize);
  return {out, kMaxLinkHead};
}

Buffer LinkFrameWriter::Encode(LinkFrame&& frame) {
  char space[kMaxLinkHead];
  const absl::string_view head = EncodeLinkHead(frame, frame.payload.size(), space);
  Buffer out;
  if (!heads_.Append(head, out)) out.Append(head);
  out.Append(std::move(frame.payload));
  return out;
}

}  // namespace farcall
