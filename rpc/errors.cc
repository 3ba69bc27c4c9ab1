// SPDX-License-Identifier: Apache-2.0

#include "rpc/errors.h"

#include <string.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

struct Entry {
  int code;
  const char* name;
  absl::StatusCode status;
};

constexpr int kFirstRpcError = 1000;

// kUnavailable says that the same call may succeed elsewhere or later.
constexpr Entry kEntries[] = {
    {kNoService, "ENOSERVICE", absl::StatusCode::kUnimplemented},
    {kNoMethod, "ENOMETHOD", absl::StatusCode::kUnimplemented},
    {kBadRequest, "EREQUEST", absl::StatusCode::kInvalidArgument},
    {kAuthFailed, "ERPCAUTH", absl::StatusCode::kUnauthenticated},
    {kTooManyFails, "ETOOMANYFAILS", absl::StatusCode::kUnavailable},
    {kBackupRequest, "EBACKUPREQUEST", absl::StatusCode::kInternal},
    {kRpcTimedOut, "ERPCTIMEDOUT", absl::StatusCode::kDeadlineExceeded},
    {kFailedSocket, "EFAILEDSOCKET", absl::StatusCode::kUnavailable},
    {kHttp, "EHTTP", absl::StatusCode::kUnknown},
    {kOvercrowded, "EOVERCROWDED", absl::StatusCode::kResourceExhausted},
    {kEof, "EEOF", absl::StatusCode::kUnavailable},
    {kSsl, "ESSL", absl::StatusCode::kUnavailable},
    {kRejected, "EREJECT", absl::StatusCode::kUnavailable},
    {kInternal, "EINTERNAL", absl::StatusCode::kInternal},
    {kBadResponse, "ERESPONSE", absl::StatusCode::kInternal},
    {kLogoff, "ELOGOFF", absl::StatusCode::kUnavailable},
    {kLimit, "ELIMIT", absl::StatusCode::kResourceExhausted},
    {kClosed, "ECLOSE", absl::StatusCode::kUnavailable},
    {kRdma, "ERDMA", absl::StatusCode::kUnavailable},
    {kRdmaMemory, "ERDMAMEM", absl::StatusCode::kResourceExhausted},
};

const Entry* Find(int code) {
  const auto* entry = std::find_if(std::begin(kEntries), std::end(kEntries),
                                   [code](const Entry& known) { return known.code == code; });
  return entry == std::end(kEntries) ? nullptr : entry;
}

bool IsErrno(int code) { return code > 0 && code < kFirstRpcError; }

}  // namespace

const char* ErrorName(int code) {
  if (const Entry* entry = Find(code)) return entry->name;
  if (code == 0) return "OK";
  // strerrorname_np(3): null for a number that is no errno.
  const char* name = IsErrno(code) ? strerrorname_np(code) : nullptr;
  return name != nullptr ? name : "UNKNOWN";
}

absl::StatusCode ToStatusCode(int code) {
  if (code == 0) return absl::StatusCode::kOk;
  if (const Entry* entry = Find(code)) return entry->status;
  return IsErrno(code) ? absl::ErrnoToStatusCode(code) : absl::StatusCode::kUnknown;
}

absl::Status ToStatus(int code, absl::string_view text) {
  if (code == 0) return absl::OkStatus();
  return absl::Status(ToStatusCode(code), absl::StrCat(ErrorName(code), " (", code, ")",
                                                       text.empty() ? "" : ": ", text));
}

}  // namespace farcall
