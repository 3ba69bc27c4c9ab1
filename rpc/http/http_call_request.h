// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_CALL_REQUEST_H_
#define FARCALL_RPC_HTTP_HTTP_CALL_REQUEST_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/http/http_head_scanner.h"
#include "rpc/http/http_message.h"
#include "rpc/user_fields.h"
#include "transport/base/time.h"
#include "transport/buffer/buffer.h"

namespace farcall {

enum class HttpBodyKind : unsigned char { kJson, kProtobuf };

// User fields travel as header fields, whose names have no case: "x-farcall-field-KEY".
inline constexpr absl::string_view kUserFieldPrefix = "x-farcall-field-";

// A request as a call.
struct HttpCallRequest {
  HttpBodyKind kind = HttpBodyKind::kJson;  // of the answer too
  Buffer body;
  TimePoint deadline = TimePoint::max();
  int64_t log_id = 0;
  std::string request_id;
  UserFields user_fields;
};

// "/pkg.Service/Method" in its two parts; both empty where it has not two.
struct MethodPath {
  absl::string_view service;
  absl::string_view method;
};
MethodPath SplitMethodPath(absl::string_view path);

// `request`, GET or POST to a method, of which the body is taken, came at `now`. The status of
// what is returned is 0, or `call` is not to be used.
HttpRefusal ReadCallRequest(HttpRequest& request, TimePoint now, HttpCallRequest& call);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_CALL_REQUEST_H_
