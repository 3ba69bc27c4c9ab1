// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/routed_call.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/cluster/cluster.h"
#include "rpc/exception_text.h"
#include "rpc/retry_policy.h"
#include "rpc/wire/reframe.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// Before a server that was tried already is tried again: doubles with each retry. A quarter is
// spread by the call's id, so that calls that failed together do not come together.
constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr Duration kLongestPause = std::chrono::milliseconds(200);

Duration Pause(int retry, uint64_t id) {
  const Duration whole = std::min(kFirstPause * (1 << std::min(retry - 1, 8)), kLongestPause);
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  return whole - whole / 4 * static_cast<int64_t>((id * kGolden) >> 56) / 256;
}

// An answer that says that the server ran nothing.
bool IsRefusal(int code) { return code == kLogoff || code == kLimit; }

// What an error tells of the server. Numbers that are no RpcError are the service's own, and the
// service answered.
ServerSet::Outcome OutcomeOf(int code) {
  switch (code) {
    case kRpcTimedOut:
    case kFailedSocket:
    case kSsl:
    case kOvercrowded:
    case kEof:
    case kInternal:
    case kLimit:
    case kRdma:
      return ServerSet::Outcome::kFailure;
    case ECANCELED:
    case kLogoff:
    case kAuthFailed:
      return ServerSet::Outcome::kIgnored;
    default:
      return ServerSet::Outcome::kSuccess;
  }
}

}  // namespace

RoutedCall::~RoutedCall() {
  Check(first_.session == nullptr && (second() == nullptr || second()->session == nullptr),
        "a call ends before it dies");
}

void RoutedCall::Begin(Cluster& cluster, absl::string_view head, Buffer&& rest) {
  Check(head.size() <= kSmallHead, "the head of a call's frame has room in the call");
  cluster_ = &cluster;
  if (!head.empty() && head.data() != memory()) std::memcpy(memory(), head.data(), head.size());
  head_size_ = head.size();
  if (!rest.empty()) further_.Get().rest = std::move(rest);
  if (canceled()) return FinishFailed(ECANCELED, "cancelled by the caller before it was sent");
  if (plan_.connection_type != CONNECTION_TYPE_SINGLE) cluster_->List(*this);
  if (!cluster_->NamesKnown(*this)) return Await(Waiting::kForNames, plan_.deadline);
  Go();
}

// The first attempt, or the next one after a pause. From now on the backup request has its time,
// once a call.
void RoutedCall::Go() {
  const TimePoint now = cluster_->loop().now();
  if (second() == nullptr && plan_.backup_after < plan_.deadline - now) {
    Await(Waiting::kForBackup, now + plan_.backup_after);
  }
  Place(first_);
}

// The last thing that is done: the attempt may end before Start returns, and the call with it.
void RoutedCall::Place(Attempt& attempt) {
  Cluster::Choice choice = cluster_->Choose(plan_, tried_);
  // Others may have connections to spare.
  while (choice.code == kOvercrowded) {
    tried_.push_back(choice.server);
    if (!cluster_->AnyUntried(tried_)) break;
    choice = cluster_->Choose(plan_, tried_);
  }
  if (choice.session == nullptr) {
    if (&attempt == &first_) return FinishFailed(choice.code, cluster_->WhyNone(choice));
    // A backup request that finds no connection is not missed.
    cluster_->GiveBackRetry();
    return further_.Get().second.reset();
  }
  tried_.push_back(choice.server);
  attempt.server = choice.server;
  ClientSession& session = *choice.session;
  attempt.session = std::move(choice.session);
  attempt.began = cluster_->loop().now();
  if (attempts_++ == 0) {
    if (!session.Reserve(head_size_)) {
      Release(attempt, ServerSet::Outcome::kIgnored, /*reusable=*/true);
      return FinishFailed(kOvercrowded, kNoBlocks);
    }
    return session.Start(attempt, id_, plan_.deadline, head(),
                         plan_.may_repeat() ? ShareRest() : TakeRest());
  }
  const uint64_t attempt_id = cluster_->NextCallId();
  session.Start(attempt, attempt_id, plan_.deadline, {}, FrameAgain(attempt_id));
}

Buffer RoutedCall::ShareRest() {
  const Further* const further = further_.IfMade();
  return further != nullptr ? further->rest.Share() : Buffer();
}

Buffer RoutedCall::TakeRest() {
  Further* const further = further_.IfMade();
  return further != nullptr ? std::move(further->rest) : Buffer();
}

Buffer RoutedCall::FrameAgain(uint64_t attempt_id) {
  const TimePoint now = cluster_->loop().now();
  Buffer frame(head());
  frame.Append(ShareRest());
  return Reframe(std::move(frame), [&](wire::RpcMeta& meta) {
    meta.set_correlation_id(static_cast<int64_t>(attempt_id));
    if (plan_.deadline != TimePoint::max()) SetTimeLeft(meta, plan_.deadline - now);
  });
}

void RoutedCall::OnAnswer(Attempt& attempt, Frame& frame, const Info& connection) {
  const int code = frame.meta.response().error_code();
  if (IsRefusal(code)) {
    return OnFailure(attempt, code, frame.meta.response().error_text(), /*may_have_run=*/false,
                     connection);
  }
  Release(attempt, OutcomeOf(code), /*reusable=*/true);
  set_connection(connection);
  Answer(frame);
  Finish();
}

void RoutedCall::OnFailure(Attempt& attempt, int code, absl::string_view text, bool may_have_run,
                           const Info& connection) {
  Fail(code, text);
  if (code == kLogoff) cluster_->OnLogoff(attempt.server, attempt.session);
  set_connection(connection);
  may_have_run_ |= may_have_run;
  // Too large for the server, as it has said before.
  const bool refused_here = code == kBadRequest;
  const bool never_left = refused_here || (code == kRpcTimedOut && !may_have_run);
  Release(attempt, never_left ? ServerSet::Outcome::kIgnored : OutcomeOf(code),
          /*reusable=*/never_left || (IsRefusal(code) && code != kLogoff));
  const bool other_runs =
      first_.session != nullptr || (second() != nullptr && second()->session != nullptr);
  if (other_runs) return;
  const TimePoint now = cluster_->loop().now();
  const bool elsewhere = cluster_->AnyUntried(tried_);
  // The same server would be refused, or refuse, again.
  if (code == kSsl && !elsewhere) return Finish();
  const TimePoint then = elsewhere ? now : now + Pause(retries_ + 1, id_);
  if (!MayRetry(code, text, then)) return Finish();
  ++retries_;
  cluster_->List(*this);
  elsewhere ? Place(first_) : Await(Waiting::kToRetry, then);
}

// `then`: when the next attempt would begin. The budget is asked last: what is not tried takes
// nothing of it. What is tried does, even if it then finds no connection.
bool RoutedCall::MayRetry(int code, absl::string_view text, TimePoint then) {
  if (retries_ >= plan_.max_retry || answer_broke_) return false;
  // EREQUEST: no policy is asked of one that a server has answered, either.
  if (code == ECANCELED || code == kBadRequest) return false;
  if (plan_.deadline <= then) return false;
  const auto& own = cluster_->options().retry_policy;
  const auto& policy = own != nullptr ? own : RetryPolicy::Default();
  // Of a backup request and the first one, either may have run.
  const FailedAttempt failed{code, text, may_have_run_, attempts_};
  bool retry = false;
  const std::optional<std::string> thrown =
      ExceptionTextOf([&] { retry = policy->ShouldRetry(failed); });
  if (thrown)
    Fail(code, absl::StrCat(text, " (not tried again: retry_policy threw: ", *thrown, ")"));
  if (!retry) return false;
  if (cluster_->TakeRetry()) return true;
  Fail(code, absl::StrCat(text, " (not tried again: retry_budget is used up)"));
  return false;
}

void RoutedCall::Cancel() {
  Drop(first_, ServerSet::Outcome::kIgnored);
  if (second() != nullptr) Drop(*second(), ServerSet::Outcome::kIgnored);
  FinishFailed(ECANCELED, "cancelled by the caller");
}

void RoutedCall::OnNames(const absl::Status& why) {
  StopWaiting();
  if (!why.ok()) return FinishFailed(EHOSTDOWN, why.message());
  Go();
}

void RoutedCall::Release(Attempt& attempt, ServerSet::Outcome outcome, bool reusable) {
  if (place() != nullptr) place()->TakeBack(&attempt);
  const std::shared_ptr<ClientSession> session = std::move(attempt.session);
  cluster_->OnAttemptEnd(attempt.server, outcome, cluster_->loop().now() - attempt.began);
  if (plan_.connection_type != CONNECTION_TYPE_SINGLE) {
    cluster_->GiveBack(attempt.server, session, plan_.connection_type, reusable);
  }
}

// An attempt whose answer the call does not wait for any more.
void RoutedCall::Drop(Attempt& attempt, ServerSet::Outcome outcome) {
  if (attempt.session == nullptr) return;
  const std::shared_ptr<ClientSession> session = attempt.session;
  Release(attempt, outcome, /*reusable=*/false);
  session->Forget(attempt.id());
}

void RoutedCall::Await(Waiting what, TimePoint until) {
  StopWaiting();
  waiting_ = what;
  cluster_->List(*this);
  alarm_ = until;
  if (until != TimePoint::max()) cluster_->SetAlarm(until, id_);
}

void RoutedCall::StopWaiting() {
  waiting_ = Waiting::kForNothing;
  if (alarm_ != TimePoint::max())
    cluster_->CancelAlarm(std::exchange(alarm_, TimePoint::max()), id_);
}

void RoutedCall::OnAlarm() {
  alarm_ = TimePoint::max();
  switch (std::exchange(waiting_, Waiting::kForNothing)) {
    case Waiting::kForNothing:
      return;
    case Waiting::kForNames:
      return FinishFailed(kRpcTimedOut,
                          absl::StrCat("deadline exceeded: ", cluster_->WhyNoNames()));
    case Waiting::kToRetry:
      return Go();
    case Waiting::kForBackup:
      if (first_.session == nullptr || !cluster_->TakeRetry()) return;
      return Place(further_.Get().second.emplace(*this));
  }
}

void RoutedCall::FinishFailed(int code, absl::string_view text) {
  Fail(code, text);
  Finish();
}

void RoutedCall::Finish() {
  // The loser of a backup request was this slow at least: what its server is known by.
  if (first_.session != nullptr) Drop(first_, ServerSet::Outcome::kUnanswered);
  if (second() != nullptr) Drop(*second(), ServerSet::Outcome::kUnanswered);
  if (waiting_ != Waiting::kForNothing || alarm_ != TimePoint::max()) StopWaiting();
  set_attempts(retries_, second() != nullptr);
  if (further_.made()) further_.Get().rest.Clear();
  cluster_->OnCallEnd(*this);
}

}  // namespace farcall
