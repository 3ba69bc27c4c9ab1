// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_READER_H_
#define FARCALL_RPC_HTTP_HTTP_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "rpc/http/http_head_scanner.h"
#include "rpc/http/http_message.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Cuts HTTP/1.1 and 1.0 requests out of the bytes of one connection. Strict where a lenient reader
// and another on the way could disagree on where a request ends: what is not certain is refused.
// A body of known length stays in the input until it is whole and is cut out without a copy; small
// chunks are copied together.
class HttpReader {
 public:
  enum class Result {
    kMore,      // there is no whole request yet
    kContinue,  // the client waits for "100 Continue" before it sends the body; returned once
    kRequest,
    kRefused,  // refusal() says why; the connection can only close, and Read is not called again
  };

  // `pool` outlives this and what it read.
  HttpReader(const HttpLimits& limits, BlockPool& pool);
  HttpReader(const HttpReader&) = delete;
  HttpReader& operator=(const HttpReader&) = delete;

  // Takes what it can from the front of `input`. `request` is replaced with kRequest only.
  Result Read(Buffer& input, HttpRequest& request);
  // After kMore: how many bytes `input` must hold before there is more to be had; 0: not known.
  size_t need() const { return need_; }
  const HttpRefusal& refusal() const { return refusal_; }
  // After kMore and kContinue: the request whose body is awaited; of its own body there may be a
  // part. Null: its head is not there yet.
  const HttpRequest* head() const {
    return state_ == State::kBody || state_ == State::kChunks ? &request_ : nullptr;
  }
  // Whether a request was begun and is not complete.
  bool begun() const;

 private:
  enum class State { kHead, kBody, kChunks, kRefused };

  Result ReadHead(Buffer& input);
  Result ParseHead(absl::string_view head);
  Result BeginBody();
  Result ReadBody(Buffer& input);
  Result ReadChunks(Buffer& input);
  Result ReadChunkHead(Buffer& input, bool& done);
  Result TakeChunkPart(Buffer& input, size_t bytes);
  Result Refuse(int status, absl::string_view text);
  Result RefuseBody();
  Result RefuseVersion(absl::string_view version);

  const HttpLimits limits_;
  BlockPool& pool_;
  State state_ = State::kHead;
  HttpHeadScanner scanner_;
  std::string scratch_;  // what lies in more than one slice, in one piece
  HttpRequest request_;
  bool continue_due_ = false;
  size_t length_ = 0;  // of the body, in kBody
  // In kChunks, of this request:
  bool first_chunk_ = true;
  uint64_t data_left_ = 0;  // of the chunk
  size_t chunk_extra_ = 0;
  std::optional<BlockWriter> small_chunks_;  // where they are copied
  size_t need_ = 0;
  HttpRefusal refusal_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_READER_H_
