// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_FRAMING_H_
#define FARCALL_RPC_HTTP_HTTP_FRAMING_H_

#include "rpc/http/http_head_scanner.h"
#include "rpc/http/http_message.h"

namespace farcall {

// What the fields of a request say of its body.
struct HttpFraming {
  HttpRefusal refusal;  // the rest counts where its status is 0
  bool has_length = false;
  bool chunked = false;
  bool expects_continue = false;  // the client waits for "100 Continue", if there is a body
};

// As strictly as RFC 9112, sections 3.2 and 6.1 to 6.3, allows: where two readers might find
// different ends, there is none.
HttpFraming FindFraming(const HttpRequest& request);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_FRAMING_H_
