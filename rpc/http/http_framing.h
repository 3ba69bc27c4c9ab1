// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_FRAMING_H_
#define FARCALL_RPC_HTTP_HTTP_FRAMING_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "rpc/http/http_head_scanner.h"
#include "rpc/http/http_message.h"

namespace farcall {

// What the fields of a request say of its body, and of the connection.
struct HttpFraming {
  HttpRefusal refusal;  // the rest counts where its status is 0
  uint64_t length = 0;  // of a body without chunks
  bool chunked = false;
  bool keep_alive = true;         // the client would send another request
  bool expects_continue = false;  // the client waits for "100 Continue", if there is a body
};

// As strictly as RFC 9112, sections 3.2, 6.1 to 6.3 and 9.3, allows: where two readers might find
// different ends, there is none.
HttpFraming FindFraming(const HttpRequest& request);

// What stands before a chunk's data, or makes the last chunk (RFC 9112, section 7.1).
struct ChunkHead {
  size_t size =
      0;  // bytes of the line, of the line's end after the data before, and of the trailer
  bool well_formed = true;  // else the rest counts for nothing
  uint64_t data = 0;        // bytes of data that follow; 0: it is the last chunk
  size_t extra = 0;         // of `size`: extensions and trailer fields
};

// The chunk head at the front of `bytes`; size 0: it is not complete. `first`: no data came before.
// A trailer may not say where a body ends: Content-Length and Transfer-Encoding are malformed
// there.
ChunkHead FindChunkHead(absl::string_view bytes, bool first);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_FRAMING_H_
