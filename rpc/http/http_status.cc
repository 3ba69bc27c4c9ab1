// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_status.h"

#include <cerrno>

#include "rpc/errors.h"

namespace farcall {

const char* HttpReason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
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
