// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_ANSWER_H_
#define FARCALL_RPC_HTTP_HTTP_ANSWER_H_

#include <string>
#include <utility>

#include "rpc/http/http_message.h"
#include "rpc/http/http_writer.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// An answer as it goes to the connection.
struct HttpAnswerBytes {
  HttpAnswerBytes(HttpResponse response, const HttpAnswerForm& form)
      : head(HttpHead(response, form)),
        body(form.head_only ? Buffer() : std::move(response.body)) {}

  std::string head;
  Buffer body;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_ANSWER_H_
