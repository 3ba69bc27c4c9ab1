// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/plain_meta.h"

#include <climits>
#include <cstring>
#include <string>

#include "transport/base/check.h"

namespace farcall {
namespace {

// A field's number and wire type, of fields below 16: one byte.
constexpr char Tag(int field, bool has_length) {
  return static_cast<char>(field << 3 | (has_length ? 2 : 0));
}

constexpr char kRequest = Tag(wire::RpcMeta::kRequestFieldNumber, true);
constexpr char kResponse = Tag(wire::RpcMeta::kResponseFieldNumber, true);
constexpr char kCompressType = Tag(wire::RpcMeta::kCompressTypeFieldNumber, false);
constexpr char kCorrelationId = Tag(wire::RpcMeta::kCorrelationIdFieldNumber, false);
constexpr char kAttachmentSize = Tag(wire::RpcMeta::kAttachmentSizeFieldNumber, false);
constexpr char kServiceName = Tag(wire::RpcRequestMeta::kServiceNameFieldNumber, true);
constexpr char kMethodName = Tag(wire::RpcRequestMeta::kMethodNameFieldNumber, true);
constexpr char kLogId = Tag(wire::RpcRequestMeta::kLogIdFieldNumber, false);
constexpr char kTimeoutMs = Tag(wire::RpcRequestMeta::kTimeoutMsFieldNumber, false);
constexpr char kErrorCode = Tag(wire::RpcResponseMeta::kErrorCodeFieldNumber, false);
constexpr char kErrorText = Tag(wire::RpcResponseMeta::kErrorTextFieldNumber, true);

char* PutVarint(uint64_t value, char* to) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

char* PutNumber(char tag, int64_t value, char* to) {
  *to++ = tag;
  return PutVarint(static_cast<uint64_t>(value), to);
}

char* PutText(char tag, absl::string_view text, char* to) {
  *to++ = tag;
  to = PutVarint(text.size(), to);
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Takes fields off the front of some bytes.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool done() const { return at_ == end_; }
  char TakeTag() { return *at_++; }  // not done()
  // Of up to 9 bytes, which hold what is not negative.
  bool TakeVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 63 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  // Generated code cuts what is larger.
  bool TakeInt32(int32_t& value) {
    uint64_t whole = 0;
    if (!TakeVarint(whole) || whole > INT32_MAX) return false;
    value = static_cast<int32_t>(whole);
    return true;
  }
  bool TakeBytes(absl::string_view& bytes) {
    uint64_t size = 0;
    if (!TakeVarint(size) || size > static_cast<uint64_t>(end_ - at_)) return false;
    bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }
  // Not by a setter, which would make a std::string on the way.
  bool TakeText(std::string* text) {
    absl::string_view bytes;
    if (!TakeBytes(bytes)) return false;
    text->assign(bytes.data(), bytes.size());
    return true;
  }

 private:
  const char* at_;
  const char* const end_;
};

bool ReadRequest(FieldReader fields, wire::RpcRequestMeta& request) {
  while (!fields.done()) {
    uint64_t log_id = 0;
    int32_t timeout_ms = 0;
    switch (fields.TakeTag()) {
      case kServiceName:
        if (!fields.TakeText(request.mutable_service_name())) return false;
        break;
      case kMethodName:
        if (!fields.TakeText(request.mutable_method_name())) return false;
        break;
      case kLogId:
        if (!fields.TakeVarint(log_id)) return false;
        request.set_log_id(static_cast<int64_t>(log_id));
        break;
      case kTimeoutMs:
        if (!fields.TakeInt32(timeout_ms)) return false;
        request.set_timeout_ms(timeout_ms);
        break;
      default:
        return false;
    }
  }
  return true;
}

bool ReadResponse(FieldReader fields, wire::RpcResponseMeta& response) {
  while (!fields.done()) {
    int32_t code = 0;
    switch (fields.TakeTag()) {
      case kErrorCode:
        if (!fields.TakeInt32(code)) return false;
        response.set_error_code(code);
        break;
      case kErrorText:
        if (!fields.TakeText(response.mutable_error_text())) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace

char* PlainMeta::Put(const Request& request, int32_t attachment_size, char* to) {
  Check(request.service_name.size() + request.method_name.size() <= kMaxNames,
        "a plain meta has room for the names");
  // The length of the request stands before it, most often in one byte.
  char* const begin = to + 2;
  char* end = PutText(kServiceName, request.service_name, begin);
  end = PutText(kMethodName, request.method_name, end);
  if (request.log_id != 0) end = PutNumber(kLogId, request.log_id, end);
  if (request.timeout_ms > 0) end = PutNumber(kTimeoutMs, request.timeout_ms, end);
  const auto size = static_cast<size_t>(end - begin);
  if (size >= 0x80) [[unlikely]] {
    std::memmove(begin + 1, begin, size);
    ++end;
  }
  PutNumber(kRequest, static_cast<int64_t>(size), to);
  to = PutNumber(kCorrelationId, request.correlation_id, end);
  return attachment_size > 0 ? PutNumber(kAttachmentSize, attachment_size, to) : to;
}

char* PlainMeta::Put(const Answer& answer, int32_t attachment_size, char* to) {
  // That there is no error is said by the number, which peers look for.
  constexpr char kSuccess[] = {kResponse, 2, kErrorCode, 0};
  std::memcpy(to, kSuccess, sizeof(kSuccess));
  to = PutNumber(kCorrelationId, answer.correlation_id, to + sizeof(kSuccess));
  return attachment_size > 0 ? PutNumber(kAttachmentSize, attachment_size, to) : to;
}

void PlainMeta::SetAttachmentSize(int32_t bytes) {
  end_ = PutNumber(kAttachmentSize, bytes, bytes_ + end_) - bytes_;
}

bool PlainMetaReader::Read(absl::string_view bytes, wire::RpcMeta& meta) {
  const size_t known = Known(bytes, meta);
  if (known > 0 && ReadUsual(bytes.substr(known), meta)) [[likely]]
    return same_ = true;
  of_ = nullptr;
  same_ = known > 0 && ReadFrom(known, bytes, meta);
  return same_ || ReadFrom(0, bytes, meta);
}

// How many bytes at the front are read already.
size_t PlainMetaReader::Known(absl::string_view bytes, const wire::RpcMeta& meta) const {
  if (of_ != &meta || part_.empty() || bytes.size() < part_.size()) return 0;
  return std::memcmp(bytes.data(), part_.data(), part_.size()) == 0 ? part_.size() : 0;
}

// What most metas have behind a part that is known: a correlation_id.
bool PlainMetaReader::ReadUsual(absl::string_view rest, wire::RpcMeta& meta) {
  if (rest.empty() || rest.front() != kCorrelationId) return false;
  FieldReader fields(rest.substr(1));
  uint64_t id = 0;
  if (!fields.TakeVarint(id) || !fields.done()) return false;
  meta.clear_compress_type();
  meta.clear_attachment_size();
  meta.set_correlation_id(static_cast<int64_t>(id));
  return true;
}

// `front`: up to the end of the `count`th request or response.
void PlainMetaReader::Remember(absl::string_view front, int count) {
  const bool alone = count == 1 && (front[0] == kRequest || front[0] == kResponse);
  part_.assign(front.data(), alone && front.size() <= kMaxPart ? front.size() : 0);
}

bool PlainMetaReader::ReadFrom(size_t known, absl::string_view bytes, wire::RpcMeta& meta) {
  if (known > 0) {
    meta.clear_compress_type();
    meta.clear_correlation_id();
    meta.clear_attachment_size();
  } else {
    meta.Clear();
    part_.clear();
  }
  FieldReader fields(bytes.substr(known));
  int parts = 0;
  while (!fields.done()) {
    absl::string_view part;
    uint64_t id = 0;
    int32_t number = 0;
    const char tag = fields.TakeTag();
    switch (tag) {
      case kRequest:
      case kResponse:
        // Two of them are merged: not into what is known.
        if (known > 0 || !fields.TakeBytes(part)) return false;
        if (tag == kRequest ? !ReadRequest(FieldReader(part), *meta.mutable_request())
                            : !ReadResponse(FieldReader(part), *meta.mutable_response())) {
          return false;
        }
        Remember(bytes.substr(0, static_cast<size_t>(part.end() - bytes.begin())), ++parts);
        break;
      case kCompressType:
        if (!fields.TakeInt32(number)) return false;
        meta.set_compress_type(number);
        break;
      case kCorrelationId:
        if (!fields.TakeVarint(id)) return false;
        meta.set_correlation_id(static_cast<int64_t>(id));
        break;
      case kAttachmentSize:
        if (!fields.TakeInt32(number)) return false;
        meta.set_attachment_size(number);
        break;
      default:
        return false;
    }
  }
  of_ = &meta;
  return true;
}

}  // namespace farcall
