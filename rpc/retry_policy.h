// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RETRY_POLICY_H_
#define FARCALL_RPC_RETRY_POLICY_H_

#include <memory>

#include "absl/strings/string_view.h"

namespace farcall {

// How one attempt of a call failed.
struct FailedAttempt {
  int error_code = 0;  // an RpcError, an errno, or the service's own
  absl::string_view error_text;
  // False where the server certainly ran nothing of it: it could not be reached, it
  // refused the request, or the request had not left this process. ELOGOFF and ELIMIT are refusals,
  // also where a handler answers with them: one that has done something, or that hands on
  // the error of another server, answers with another code. An attempt whose connection broke while
  // it waited for the answer may have run.
  bool may_have_run = true;
  int attempt = 1;  // 1: the first
};

// Whether a call that failed is tried again, on another server where there is one. Never asked
// once an answer came that is no refusal, or began to come, nor beyond max_retry, the deadline, or
// the budget.
class RetryPolicy {
 public:
  virtual ~RetryPolicy() = default;
  // Any thread, with a loop held: must not block or call the library. Where it throws, the call is
  // not tried again.
  virtual bool ShouldRetry(const FailedAttempt& failed) const = 0;

  // As brpc: connections that fail or break, refusals of a server that stops or is full. For
  // requests that may run twice: reads, and writes that say the same again.
  static const std::shared_ptr<const RetryPolicy>& Default();
  // Only what certainly did not run: for requests that must not run twice.
  static const std::shared_ptr<const RetryPolicy>& OnlyIfNotRun();
};

}  // namespace farcall

#endif  // FARCALL_RPC_RETRY_POLICY_H_
