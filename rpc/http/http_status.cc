// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_status.h"

#include <cerrno>
#include <utility>

#include "rpc/errors.h"

namespace farcall {

namespace {

constexpr std::pair<int, const char*> kReasons[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

}  // namespace

const char* HttpReason(int status) {
  for (const auto& [known, reason] : kReasons) {
    if (known == status) return reason;
  }
  return "Status";
}

int HttpStatusOf(int code) {
  switch (code) {
    case 0:
      return 200;
    case kNoService:
    case kNoMethod:
      return 404;
    case kBadRequest:
    case EINVAL:
      return 400;
    case kAuthFailed:
      return 401;
    case EPERM:
    case EACCES:
      return 403;
    case kLimit:
    case kLogoff:
    case kOvercrowded:
      return 503;
    case kRpcTimedOut:
    case ETIMEDOUT:
      return 504;
    default:
      return 500;
  }
}

}  // namespace farcall
