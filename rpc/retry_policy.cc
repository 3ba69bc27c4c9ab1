// SPDX-License-Identifier: Apache-2.0

#include "rpc/retry_policy.h"

#include <cerrno>

#include "rpc/errors.h"

namespace farcall {
namespace {

// The list of brpc (src/brpc/retry_policy.cpp), without what belongs to HTTP/2; and ESSL, for
// another server may have a better certificate. The same one is not asked again.
bool IsConnectionTrouble(int code) {
  switch (code) {
    case kFailedSocket:
    case kSsl:
    case kEof:
    case kLogoff:
    case kLimit:
    case kOvercrowded:
    case kRdma:
    case EHOSTDOWN:
    case ETIMEDOUT:
    case ENOENT:
    case EPIPE:
    case ECONNREFUSED:
    case ECONNRESET:
    case ENODATA:
      return true;
    default:
      return false;
  }
}

class BrpcPolicy final : public RetryPolicy {
 public:
  bool ShouldRetry(const FailedAttempt& failed) const override {
    return IsConnectionTrouble(failed.error_code);
  }
};

class NotRunPolicy final : public RetryPolicy {
 public:
  bool ShouldRetry(const FailedAttempt& failed) const override {
    return !failed.may_have_run && IsConnectionTrouble(failed.error_code);
  }
};

}  // namespace

// Never destroyed: calls may end after main.
const std::shared_ptr<const RetryPolicy>& RetryPolicy::Default() {
  static const auto* const policy =
      new std::shared_ptr<const RetryPolicy>(std::make_shared<BrpcPolicy>());
  return *policy;
}

const std::shared_ptr<const RetryPolicy>& RetryPolicy::OnlyIfNotRun() {
  static const auto* const policy =
      new std::shared_ptr<const RetryPolicy>(std::make_shared<NotRunPolicy>());
  return *policy;
}

}  // namespace farcall
