// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_WRITER_H_
#define FARCALL_RPC_HTTP_HTTP_WRITER_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "rpc/http/http_message.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// What of a request decides the form of its answer.
struct HttpAnswerForm {
  bool head_only = false;  // the answer to HEAD
  bool http11 = true;
  bool keep_alive = true;  // the connection stays open behind the answer

  static HttpAnswerForm Of(const HttpRequest& request) {
    return {.head_only = request.method == "HEAD",
            .http11 = request.http11,
            .keep_alive = request.keep_alive};
  }
};

// What lets a client that waits for it send its body.
inline constexpr absl::string_view kHttpContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Status line and fields of `response`, with the empty line; response.body follows, unless
// form.head_only. A field that holds CR, LF or NUL, or has no proper name, is left out: what
// a handler took from a request must not become a field or an answer of its own.
std::string HttpHead(const HttpResponse& response, const HttpAnswerForm& form);

// An answer as it goes to the connection.
struct HttpAnswerBytes {
  HttpAnswerBytes(HttpResponse response, const HttpAnswerForm& form)
      : head(HttpHead(response, form)),
        body(form.head_only ? Buffer() : std::move(response.body)) {}

  std::string head;
  Buffer body;
};

// `text` as a body, not copied.
Buffer BodyOf(std::string text);

// For calls that failed, and requests that never became one: JSON with `code`, its name, and
// `text`, which is cut.
HttpResponse HttpErrorAnswer(int status, int code, absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_WRITER_H_
