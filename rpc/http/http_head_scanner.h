// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_HEAD_SCANNER_H_
#define FARCALL_RPC_HTTP_HTTP_HEAD_SCANNER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace farcall {

// Bytes, but for max_fields.
struct HttpLimits {
  size_t max_head_size = size_t{16} << 10;  // request line and fields
  size_t max_target_size = size_t{8} << 10;
  size_t max_fields = 100;
  size_t max_body_size = size_t{64} << 20;  // without its chunks
  // Framing of all chunks together that says nothing: extensions, and trailer fields.
  size_t max_chunk_extra = size_t{8} << 10;
};

// Why a request is not taken: the status to answer with before the connection closes.
struct HttpRefusal {
  int status = 0;    // 0: it is not refused
  std::string text;  // what is wrong, for a person
};

// Of a name of a method, a field or the like: RFC 9110, section 5.6.2.
bool IsHttpTokenChar(char c);

// Finds the end of a request's head, byte by byte, and refuses what HTTP parsers are known to read
// in different ways (RFC 9112, sections 2.2, 3, 5.1, 5.2 and 11.2), or what is over a limit, at the
// first byte that shows it: lines that do not end in CR LF, NUL and other control characters,
// folded lines, space before a colon, fields without a name. What the lines say is the
// reader's matter.
class HttpHeadScanner {
 public:
  explicit HttpHeadScanner(const HttpLimits& limits) : limits_(limits) {}

  // The bytes behind those of the last call. True: the head is complete or refused, and what of
  // `bytes` lies behind it was not looked at.
  bool Scan(absl::string_view bytes);

  bool complete() const { return part_ == Part::kEnd; }
  const HttpRefusal& refusal() const { return refusal_; }
  // Bytes of the head as far as it was seen.
  size_t size() const { return size_; }
  // Bytes of the empty line before the request line, which some clients send after a body.
  size_t blank() const { return blank_; }

 private:
  enum class Part {
    kStart,
    kStartLf,
    kMethod,
    kTarget,
    kVersion,
    kLineLf,
    kName,
    kValue,
    kLastLf,
    kEnd
  };

  void Step(char byte);
  void StepStart(char byte);
  void StepMethod(char byte);
  void StepTarget(char byte);
  void StepName(char byte);
  // To `next` if `byte` is the LF that must follow a CR.
  void StepLf(char byte, Part next);
  void Turn(Part next);
  void Refuse(int status, absl::string_view text);

  HttpLimits limits_;
  Part part_ = Part::kStart;
  size_t size_ = 0;
  size_t length_ = 0;  // of the part
  size_t blank_ = 0;
  size_t fields_ = 0;
  HttpRefusal refusal_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_HEAD_SCANNER_H_
