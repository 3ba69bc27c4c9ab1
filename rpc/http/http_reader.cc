// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/http/http_framing.h"
#include "rpc/http/http_target.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// A chunk's size line, or the trailer, in one piece; what is longer is refused.
constexpr size_t kMaxChunkHead = 4096;
// Chunks up to this are copied together, so that a body of tiny ones costs no slice for each.
constexpr size_t kSmallChunk = 1024;

// CONNECT, TRACE and those of WebDAV have no use here.
constexpr absl::string_view kMethods[] = {"GET",    "HEAD",    "POST", "PUT",
                                          "DELETE", "OPTIONS", "PATCH"};

// The line at the front of `head`, taken out of it with its end.
absl::string_view TakeLine(absl::string_view& head) {
  const absl::string_view line = head.substr(0, head.find('\r'));
  head.remove_prefix(line.size() + 2);
  return line;
}

}  // namespace

HttpReader::HttpReader(const HttpLimits& limits, BlockPool& pool)
    : limits_(limits), pool_(pool), scanner_(limits_) {}

bool HttpReader::begun() const {
  return state_ == State::kBody || state_ == State::kChunks || scanner_.size() > 0;
}

HttpReader::Result HttpReader::Read(Buffer& input, HttpRequest& request) {
  Check(state_ != State::kRefused, "a connection that was refused is not read");
  need_ = 0;
  Result result = Result::kRequest;
  if (state_ == State::kHead) result = ReadHead(input);
  if (result == Result::kRequest && state_ == State::kBody) result = ReadBody(input);
  if (result == Result::kRequest && state_ == State::kChunks) result = ReadChunks(input);
  if (result != Result::kRequest) return result;
  request = std::exchange(request_, HttpRequest());
  small_chunks_.reset();
  state_ = State::kHead;
  scanner_ = HttpHeadScanner(limits_);
  return result;
}

// kRequest: there is a head, and state_ tells what follows.
HttpReader::Result HttpReader::ReadHead(Buffer& input) {
  size_t at = 0;
  bool ended = false;
  for (const Buffer::Slice& slice : input.slices()) {
    const absl::string_view bytes = slice.view();
    const size_t seen = scanner_.size();
    if (!ended && at + bytes.size() > seen) ended = scanner_.Scan(bytes.substr(seen - at));
    at += bytes.size();
    if (ended) break;
  }
  if (scanner_.refusal().status != 0) {
    return Refuse(scanner_.refusal().status, scanner_.refusal().text);
  }
  if (!ended) return Result::kMore;
  scratch_.resize(scanner_.size());
  absl::string_view head = input.Front(scanner_.size(), scratch_.data());
  head.remove_prefix(scanner_.blank());
  const Result result = ParseHead(head);
  input.RemoveFront(scanner_.size());
  if (result != Result::kRequest) return result;
  if (continue_due_ && input.empty()) {
    continue_due_ = false;
    return Result::kContinue;
  }
  return result;
}

// `head` is what the scanner lets pass.
HttpReader::Result HttpReader::ParseHead(absl::string_view head) {
  request_ = HttpRequest();
  const absl::string_view line = TakeLine(head);
  const size_t method_end = line.find(' ');
  const size_t target_end = line.rfind(' ');
  const absl::string_view version = line.substr(target_end + 1);
  request_.http11 = version == "HTTP/1.1";
  if (!request_.http11 && version != "HTTP/1.0") return RefuseVersion(version);
  request_.method = std::string(line.substr(0, method_end));
  if (std::find(std::begin(kMethods), std::end(kMethods), request_.method) == std::end(kMethods)) {
    return Refuse(501, absl::StrCat("the method ", request_.method, " is not known here"));
  }
  const absl::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  if (absl::Status bad = ParseTarget(target, request_); !bad.ok()) {
    return Refuse(400, bad.message());
  }
  for (auto field = TakeLine(head); !field.empty(); field = TakeLine(head)) {
    const size_t colon = field.find(':');
    request_.fields.push_back({std::string(field.substr(0, colon)),
                               std::string(absl::StripAsciiWhitespace(field.substr(colon + 1)))});
  }
  return BeginBody();
}

HttpReader::Result HttpReader::BeginBody() {
  const HttpFraming framing = FindFraming(request_);
  if (framing.refusal.status != 0) return Refuse(framing.refusal.status, framing.refusal.text);
  if (framing.length > limits_.max_body_size) return RefuseBody();
  request_.keep_alive = framing.keep_alive;
  continue_due_ = framing.expects_continue && (framing.chunked || framing.length > 0);
  state_ = framing.chunked ? State::kChunks : State::kBody;
  length_ = static_cast<size_t>(framing.length);
  first_chunk_ = true;
  chunk_extra_ = 0;
  if (framing.chunked) small_chunks_.emplace(pool_);
  return Result::kRequest;
}

HttpReader::Result HttpReader::ReadBody(Buffer& input) {
  if (input.size() < length_) {
    need_ = length_;
    return Result::kMore;
  }
  request_.body = input.CutFront(length_);
  return Result::kRequest;
}

HttpReader::Result HttpReader::ReadChunks(Buffer& input) {
  bool done = false;
  while (!done) {
    if (input.empty()) return Result::kMore;
    const auto part =
        static_cast<size_t>(std::min<uint64_t>(data_left_, input.slices()[0].view().size()));
    const Result result = part > 0 ? TakeChunkPart(input, part) : ReadChunkHead(input, done);
    if (result != Result::kRequest) return result;
  }
  return Result::kRequest;
}

// A chunk's size line, or the last chunk with the trailer.
HttpReader::Result HttpReader::ReadChunkHead(Buffer& input, bool& done) {
  scratch_.resize(std::min(input.size(), kMaxChunkHead));
  const absl::string_view front = input.Front(scratch_.size(), scratch_.data());
  const ChunkHead head = FindChunkHead(front, first_chunk_);
  if (!head.well_formed) return Refuse(400, "the line before a chunk of the body is malformed");
  if (head.size == 0) {
    if (input.size() < kMaxChunkHead) return Result::kMore;
    return Refuse(431, "a chunk's size line or the trailer is too long");
  }
  if (head.data > limits_.max_body_size - request_.body.size()) return RefuseBody();
  chunk_extra_ += head.extra;
  if (chunk_extra_ > limits_.max_chunk_extra) {
    return Refuse(431, "the extensions and trailer of the chunks are too long");
  }
  first_chunk_ = false;
  data_left_ = head.data;
  done = head.data == 0;
  input.RemoveFront(head.size);
  return Result::kRequest;
}

HttpReader::Result HttpReader::TakeChunkPart(Buffer& input, size_t bytes) {
  data_left_ -= bytes;
  if (bytes > kSmallChunk) {
    request_.body.Append(input.CutFront(bytes));
    return Result::kRequest;
  }
  char copy[kSmallChunk];
  if (!small_chunks_->Append(input.Front(bytes, copy), request_.body)) {
    return Refuse(503, "there is no memory for the body (RuntimeOptions::pool.max_bytes)");
  }
  input.RemoveFront(bytes);
  return Result::kRequest;
}

HttpReader::Result HttpReader::Refuse(int status, absl::string_view text) {
  state_ = State::kRefused;
  refusal_.status = status;
  refusal_.text = std::string(text);
  small_chunks_.reset();
  request_ = HttpRequest();
  return Result::kRefused;
}

HttpReader::Result HttpReader::RefuseBody() {
  return Refuse(413, absl::StrCat("the body is larger than ", limits_.max_body_size, " bytes"));
}

HttpReader::Result HttpReader::RefuseVersion(absl::string_view version) {
  if (version.size() == 8 && absl::StartsWith(version, "HTTP/")) {
    return Refuse(505, absl::StrCat("HTTP/1.1 is spoken here, not ", absl::CHexEscape(version)));
  }
  return Refuse(400, "the request line does not end in an HTTP version");
}

}  // namespace farcall
