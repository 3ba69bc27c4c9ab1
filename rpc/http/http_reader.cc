// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/beast/http/basic_parser.hpp"
#include "rpc/http/http_chunk_head.h"
#include "rpc/http/http_framing.h"
#include "rpc/http/http_target.h"
#include "transport/base/check.h"
#include "transport/buffer/block_writer.h"

namespace farcall {
namespace {

namespace http = boost::beast::http;

// A chunk's size line, or the trailer, in one piece; what is longer is refused.
constexpr size_t kMaxChunkHead = 4096;
// Chunks up to this are copied together, so that a body of tiny ones costs no slice for each.
constexpr size_t kSmallChunk = 1024;

// CONNECT, TRACE and those of WebDAV have no use here.
constexpr absl::string_view kMethods[] = {"GET",    "HEAD",    "POST", "PUT",
                                          "DELETE", "OPTIONS", "PATCH"};

absl::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

// What Beast's parser says, kept for who drives it.
class HttpReader::Parser final : public http::basic_parser<true> {
 public:
  Parser(const HttpLimits& limits, BlockPool& pool, HttpRequest& request)
      : small_chunks(pool), request_(request) {
    header_limit(static_cast<std::uint32_t>(limits.max_head_size));
    body_limit(limits.max_body_size);
  }

  std::string target;
  size_t extra = 0;        // bytes of extensions and trailer fields since it was set to 0
  uint64_t data_left = 0;  // of a chunk
  bool first_chunk = true;
  BlockWriter small_chunks;  // where they are copied

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_request_impl(http::verb, string_view method, string_view text, int version,
                       error_code&) override {
    request_.method = std::string(method.data(), method.size());
    target = std::string(text.data(), text.size());
    request_.http11 = version == 11;
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(http::field, string_view name, string_view value, error_code&) override {
    if (in_chunks_) {
      // Of a trailer nothing is used: it came too late to decide anything.
      extra += name.size() + value.size() + 4;
      return;
    }
    request_.fields.push_back({std::string(View(name)), std::string(View(value))});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {
    in_chunks_ = true;
  }
  size_t on_body_impl(string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t size, string_view extensions, error_code&) override {
    extra += extensions.size();
    data_left = size;
    first_chunk = false;
  }
  size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override {
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  HttpRequest& request_;
  bool in_chunks_ = false;
};

HttpReader::HttpReader(const HttpLimits& limits, BlockPool& pool)
    : limits_(limits), pool_(pool), scanner_(limits_) {}

HttpReader::~HttpReader() = default;

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
  parser_ = nullptr;
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

HttpReader::Result HttpReader::ParseHead(absl::string_view head) {
  request_ = HttpRequest();
  parser_ = std::make_unique<Parser>(limits_, pool_, request_);
  boost::beast::error_code error;
  const size_t used = parser_->put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error == http::error::body_limit) return RefuseBody();
  if (error) return RefuseParsed(head);
  Check(used == head.size() && parser_->is_header_done(), "a whole head is parsed whole");
  if (std::find(std::begin(kMethods), std::end(kMethods), request_.method) == std::end(kMethods)) {
    return Refuse(501, absl::StrCat("the method ", request_.method, " is not known here"));
  }
  if (absl::Status bad = ParseTarget(parser_->target, request_); !bad.ok()) {
    return Refuse(400, bad.message());
  }
  return BeginBody();
}

HttpReader::Result HttpReader::BeginBody() {
  const HttpFraming framing = FindFraming(request_);
  if (framing.refusal.status != 0) return Refuse(framing.refusal.status, framing.refusal.text);
  request_.keep_alive = parser_->keep_alive();
  continue_due_ = framing.expects_continue && !parser_->is_done();
  chunk_extra_ = 0;
  state_ = framing.chunked ? State::kChunks : State::kBody;
  // Beast has compared it with max_body_size.
  length_ = framing.has_length ? static_cast<size_t>(parser_->content_length().value_or(0)) : 0;
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
    const Result result =
        parser_->data_left > 0 ? ReadChunkData(input) : ReadChunkHead(input, done);
    if (result != Result::kRequest) return result;
  }
  return Result::kRequest;
}

// A chunk's size line, or the last chunk with the trailer. Beast is given the whole of it at once:
// it counts a size twice when it has to look again.
HttpReader::Result HttpReader::ReadChunkHead(Buffer& input, bool& done) {
  scratch_.resize(std::min(input.size(), kMaxChunkHead));
  const absl::string_view front = input.Front(scratch_.size(), scratch_.data());
  const ChunkHead head = FindChunkHead(front, parser_->first_chunk);
  if (!head.well_formed) return Refuse(400, "the line before a chunk of the body is malformed");
  if (head.size == 0) {
    if (input.size() < kMaxChunkHead) return Result::kMore;
    return Refuse(431, "a chunk's size line or the trailer is too long");
  }
  parser_->extra = 0;
  boost::beast::error_code error;
  const size_t used = parser_->put(boost::asio::const_buffer(front.data(), head.size), error);
  if (error == http::error::body_limit) return RefuseBody();
  if (error) {
    return Refuse(400, absl::StrCat("the line before a chunk of the body: ", error.message()));
  }
  Check(used == head.size, "a whole chunk head is parsed whole");
  chunk_extra_ += parser_->extra;
  if (chunk_extra_ > limits_.max_chunk_extra) {
    return Refuse(431, "the extensions and trailer of the chunks are too long");
  }
  done = parser_->is_done();
  input.RemoveFront(used);
  return Result::kRequest;
}

HttpReader::Result HttpReader::ReadChunkData(Buffer& input) {
  boost::beast::error_code error;
  const absl::string_view data = input.slices()[0].view();
  const size_t used = parser_->put(boost::asio::const_buffer(data.data(), data.size()), error);
  Check(!error && used > 0 && used <= parser_->data_left, "any bytes are a chunk's data");
  parser_->data_left -= used;
  return TakeChunkPart(input, used);
}

HttpReader::Result HttpReader::TakeChunkPart(Buffer& input, size_t bytes) {
  if (bytes > kSmallChunk) {
    request_.body.Append(input.CutFront(bytes));
    return Result::kRequest;
  }
  char copy[kSmallChunk];
  if (!parser_->small_chunks.Append(input.Front(bytes, copy), request_.body)) {
    return Refuse(503, "there is no memory for the body (RuntimeOptions::pool.max_bytes)");
  }
  input.RemoveFront(bytes);
  return Result::kRequest;
}

HttpReader::Result HttpReader::Refuse(int status, absl::string_view text) {
  state_ = State::kRefused;
  refusal_.status = status;
  refusal_.text = std::string(text);
  parser_ = nullptr;
  request_ = HttpRequest();
  return Result::kRefused;
}

HttpReader::Result HttpReader::RefuseBody() {
  return Refuse(413, absl::StrCat("the body is larger than ", limits_.max_body_size, " bytes"));
}

// What Beast did not take, though its lines are well-formed.
HttpReader::Result HttpReader::RefuseParsed(absl::string_view head) {
  const absl::string_view line = head.substr(0, head.find('\r'));
  const absl::string_view version = line.substr(line.rfind(' ') + 1);
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    return Refuse(400,
                  "Content-Length, Transfer-Encoding or Connection is not well-formed, or "
                  "there are two that contradict each other");
  }
  if (version.size() == 8 && absl::StartsWith(version, "HTTP/")) {
    return Refuse(505, absl::StrCat("HTTP/1.1 is spoken here, not ", absl::CHexEscape(version)));
  }
  return Refuse(400, "the request line does not end in an HTTP version");
}

}  // namespace farcall
