// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_MESSAGE_H_
#define FARCALL_RPC_HTTP_HTTP_MESSAGE_H_

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// A header field, or a parameter of a query.
struct HttpField {
  std::string name;
  std::string value;
};

// A request that came whole, and well-formed as RFC 9112 has it.
struct HttpRequest {
  std::string method;  // "GET"; methods are case-sensitive
  // The target up to its "?", percent-decoded: begins with "/", or is "*" (OPTIONS). Holds no NUL.
  std::string path;
  std::vector<HttpField> query;   // decoded, in their order
  std::vector<HttpField> fields;  // in their order; values without the space around them
  Buffer body;                    // without its chunks
  bool http11 = true;             // else HTTP/1.0
  bool keep_alive = true;         // the client would send another request on this connection

  // Of the first field of this name, in any case. Null: there is none.
  const std::string* Find(absl::string_view name) const {
    for (const HttpField& field : fields) {
      if (absl::EqualsIgnoreCase(field.name, name)) return &field.value;
    }
    return nullptr;
  }
  // Of the first parameter of this name. Null: there is none.
  const std::string* FindQuery(absl::string_view name) const {
    for (const HttpField& parameter : query) {
      if (parameter.name == name) return &parameter.value;
    }
    return nullptr;
  }
};

struct HttpResponse {
  int status = 200;
  std::string content_type;  // "": not sent
  // Beside Content-Type, Content-Length and Connection. Without CR, LF and NUL.
  std::vector<HttpField> fields;
  Buffer body;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_MESSAGE_H_
