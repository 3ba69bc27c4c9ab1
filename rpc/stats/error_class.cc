// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/error_class.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "rpc/errors.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr int kCodes[] = {
    0,
    kNoService,
    kNoMethod,
    kBadRequest,
    kAuthFailed,
    kTooManyFails,
    kBackupRequest,
    kRpcTimedOut,
    kFailedSocket,
    kHttp,
    kOvercrowded,
    kEof,
    kSsl,
    kRejected,
    kInternal,
    kBadResponse,
    kLogoff,
    kLimit,
    kClosed,
    kRdma,
    kRdmaMemory,
};
constexpr size_t kErrno = std::size(kCodes);
constexpr size_t kOther = kErrno + 1;
static_assert(kOther + 1 == kErrorClasses, "every class has a counter");
constexpr int kFirstAfterErrno = 1000;

}  // namespace

uint64_t Sum(const ErrorCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

size_t ErrorClassOfFailure(int code) {
  if (code > 0 && code < kFirstAfterErrno) return kErrno;
  const auto* known = std::find(std::begin(kCodes) + 1, std::end(kCodes), code);
  return known == std::end(kCodes) ? kOther : static_cast<size_t>(known - std::begin(kCodes));
}

absl::string_view ErrorClassName(size_t error_class) {
  Check(error_class < kErrorClasses, "an error class comes from ErrorClassOf");
  if (error_class == kErrno) return "ERRNO";
  if (error_class == kOther) return "OTHER";
  return ErrorName(kCodes[error_class]);
}

}  // namespace farcall
