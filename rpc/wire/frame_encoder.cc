// SPDX-License-Identifier: Apache-2.0
//
// How frames are written.

#include <climits>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/payload.h"
#include "transport/base/big_endian.h"
#include "transport/base/check.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

void PutHeader(size_t body_size, size_t meta_size, char* to) {
  std::memcpy(to, kFrameMagic.data(), kFrameMagic.size());
  PutBigEndian(static_cast<uint32_t>(body_size), to + 4);
  PutBigEndian(static_cast<uint32_t>(meta_size), to + 8);
}

template <typename Meta>
size_t PutSmallHead(const Meta& meta, const google::protobuf::MessageLite& payload,
                    size_t payload_size, size_t attachment_size, char* out) {
  char* const meta_begin = out + kFrameHeaderSize;
  char* const meta_end = PlainMeta::Put(meta, static_cast<int32_t>(attachment_size), meta_begin);
  const auto meta_size = static_cast<size_t>(meta_end - meta_begin);
  PutHeader(meta_size + payload_size + attachment_size, meta_size, out);
  auto* const message = reinterpret_cast<uint8_t*>(meta_end);
  const uint8_t* const end = payload.SerializeWithCachedSizesToArray(message);
  Check(end == message + payload_size, "a message stays as it is while it is written");
  return kFrameHeaderSize + meta_size + payload_size;
}

}  // namespace

size_t WriteSmallHead(const PlainMeta::Request& meta, const google::protobuf::MessageLite& payload,
                      size_t payload_size, size_t attachment_size, char* out) {
  return PutSmallHead(meta, payload, payload_size, attachment_size, out);
}

size_t WriteSmallHead(const PlainMeta::Answer& meta, const google::protobuf::MessageLite& payload,
                      size_t payload_size, size_t attachment_size, char* out) {
  return PutSmallHead(meta, payload, payload_size, attachment_size, out);
}

absl::StatusOr<FrameEncoder> FrameEncoder::Create(PlainMeta& meta,
                                                  const google::protobuf::MessageLite& payload,
                                                  size_t payload_size, size_t attachment_size) {
  FrameEncoder encoder(nullptr, &payload);
  if (!payload.IsInitialized() || !encoder.AddBody(payload_size, 0, attachment_size)) {
    return encoder.WhyNot(0, attachment_size);
  }
  if (attachment_size > 0) meta.SetAttachmentSize(static_cast<int32_t>(attachment_size));
  encoder.plain_ = meta.bytes();
  if (!encoder.AddMeta(encoder.plain_.size())) return encoder.WhyNot(0, attachment_size);
  return encoder;
}

absl::StatusOr<FrameEncoder> FrameEncoder::Create(wire::RpcMeta& meta,
                                                  const google::protobuf::MessageLite* payload,
                                                  size_t attachment_size) {
  return Create(meta, payload, 0, attachment_size);
}

absl::StatusOr<FrameEncoder> FrameEncoder::Create(wire::RpcMeta& meta, const Buffer& payload,
                                                  size_t attachment_size) {
  return Create(meta, nullptr, payload.size(), attachment_size);
}

absl::StatusOr<FrameEncoder> FrameEncoder::Create(wire::RpcMeta& meta,
                                                  const google::protobuf::MessageLite* payload,
                                                  size_t serialized_size, size_t attachment_size) {
  FrameEncoder encoder(&meta, payload);
  if (!encoder.MeasureBody(serialized_size, attachment_size)) {
    return encoder.WhyNot(serialized_size, attachment_size);
  }
  if (attachment_size > 0) {
    meta.set_attachment_size(static_cast<int32_t>(attachment_size));
  } else {
    meta.clear_attachment_size();
  }
  if (!encoder.AddMeta(meta.ByteSizeLong())) {
    return encoder.WhyNot(serialized_size, attachment_size);
  }
  return encoder;
}

// `serialized_size`: of a payload that follows the head; 0 if there is payload_. False: WhyNot.
bool FrameEncoder::MeasureBody(size_t serialized_size, size_t attachment_size) {
  if (payload_ == nullptr) return AddBody(0, serialized_size, attachment_size);
  if (!payload_->IsInitialized()) return false;
  return AddBody(payload_->ByteSizeLong(), serialized_size, attachment_size);
}

// The same.
bool FrameEncoder::AddBody(size_t payload_size, size_t serialized_size, size_t attachment_size) {
  payload_size_ = payload_size;
  following_size_ = serialized_size + attachment_size;
  return attachment_size <= INT32_MAX && payload_size_ + serialized_size <= INT_MAX;
}

// The same.
bool FrameEncoder::AddMeta(size_t size) {
  meta_size_ = size;
  return size <= INT_MAX && size + payload_size_ + following_size_ <= UINT32_MAX;
}

// Of what is beyond a bound.
absl::Status FrameEncoder::WhyNot(size_t serialized_size, size_t attachment_size) const {
  if (payload_ != nullptr) {
    if (absl::Status status = CheckRequiredFields(*payload_); !status.ok()) return status;
  }
  if (attachment_size > INT32_MAX) {
    return absl::ResourceExhaustedError(absl::StrCat("attachment of ", attachment_size,
                                                     " bytes: a frame carries at most ", INT32_MAX,
                                                     "; send it in parts"));
  }
  const size_t payload_size = payload_size_ + serialized_size;
  if (payload_size > INT_MAX) {
    return absl::ResourceExhaustedError(absl::StrCat("message of ", payload_size,
                                                     " bytes: protobuf carries at most ", INT_MAX,
                                                     "; use an attachment"));
  }
  if (meta_size_ > INT_MAX) {
    return absl::ResourceExhaustedError(
        absl::StrCat("meta of ", meta_size_, " bytes: protobuf carries at most ", INT_MAX));
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("frame with a body of ", meta_size_ + payload_size_ + following_size_,
                   " bytes: a frame carries at most ", UINT32_MAX, "; send it in parts"));
}

void FrameEncoder::WriteHeader(char* out) const {
  PutHeader(meta_size_ + payload_size_ + following_size_, meta_size_, out);
}

void FrameEncoder::WriteTo(char* out) const {
  WriteHeader(out);
  auto* const begin = reinterpret_cast<uint8_t*>(out);
  uint8_t* end = begin + kFrameHeaderSize;
  if (meta_ != nullptr) {
    end = meta_->SerializeWithCachedSizesToArray(end);
  } else {
    std::memcpy(end, plain_.data(), plain_.size());
    end += plain_.size();
  }
  if (payload_ != nullptr) end = payload_->SerializeWithCachedSizesToArray(end);
  Check(end == begin + head_size(), "a message stays as it is while it is written");
}

bool FrameEncoder::AppendTo(BlockPool& pool, Buffer& out) const {
  BlockOutputStream stream(pool, head_size());
  {
    char header[kFrameHeaderSize];
    WriteHeader(header);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.WriteRaw(header, sizeof(header));
    if (meta_ != nullptr) {
      meta_->SerializeWithCachedSizes(&coded);
    } else {
      coded.WriteRaw(plain_.data(), static_cast<int>(plain_.size()));
    }
    if (payload_ != nullptr) payload_->SerializeWithCachedSizes(&coded);
    coded.Trim();
    if (coded.HadError()) return false;
  }
  Buffer head = stream.Take();
  Check(head.size() == head_size(), "a message stays as it is while it is written");
  out.Append(std::move(head));
  return true;
}

}  // namespace farcall
