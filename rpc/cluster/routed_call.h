// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_ROUTED_CALL_H_
#define FARCALL_RPC_CLUSTER_ROUTED_CALL_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "rpc/call/client_call.h"
#include "rpc/call/session_call.h"
#include "rpc/cluster/server_set.h"
#include "rpc/session/client/client_session.h"
#include "rpc/types.h"
#include "transport/base/on_demand.h"
#include "transport/buffer/buffer.h"

namespace farcall {

class Cluster;

// Why a call fails with kOvercrowded that could not be framed.
inline constexpr char kNoBlocks[] =
    "the block pool is at its limit (RuntimeOptions::pool.max_bytes)";

// One call on its way through a cluster: its attempts, one after the other and, with a backup
// request, two at a time.
//
//   Begin ──▶ [names known?] ──▶ attempt ──answer──▶ Finish
//                  ▲               │  └─backup time─▶ second attempt, the first answer counts
//                  │            failure
//                  └──(pause)──── retry?  ──no──▶ Finish
//
// With the cluster's loop held. It is over, and not to be touched, when Begin, or what it set
// off, has called Complete.
class RoutedCall : public ClientCall {
 public:
  struct Plan {
    TimePoint deadline;
    int max_retry = 0;
    Duration backup_after = Duration::max();  // max(): no backup request
    ConnectionType connection_type = CONNECTION_TYPE_SINGLE;
    std::optional<uint64_t> request_code;

    bool may_repeat() const { return max_retry > 0 || backup_after != Duration::max(); }
  };

  using ClientCall::ClientCall;
  ~RoutedCall() override;

  // Before Begin.
  void SetPlan(uint64_t id, TimePoint deadline, const Plan& plan) {
    id_ = id;
    plan_ = plan;
    plan_.deadline = deadline;
  }
  // The frame, whose correlation_id is the call's: `head`, of at most kSmallHead bytes, which lies
  // in memory() or is copied to there; and then `rest`. The cluster outlives the call.
  void Begin(Cluster& cluster, absl::string_view head, Buffer&& rest);
  // Ends with ECANCELED.
  void Cancel();
  // Names are known now, or will not be: `why`.
  void OnNames(const absl::Status& why);
  // The time came that was asked of Cluster::SetAlarm.
  void OnAlarm();

  uint64_t id() const { return id_; }

 private:
  // One request to one server.
  class Attempt final : public SessionCall {
   public:
    explicit Attempt(RoutedCall& call) : call_(call) {}
    void OnAnswer(Frame& frame, const Info& connection) override {
      call_.OnAnswer(*this, frame, connection);
    }
    void OnFailure(int code, absl::string_view text, bool may_have_run,
                   const Info& connection) override {
      call_.OnFailure(*this, code, text, may_have_run, connection);
    }
    void OnBrokenAnswer(int code, absl::string_view text, const Info& connection) override {
      call_.answer_broke_ = true;
      call_.OnFailure(*this, code, text, /*may_have_run=*/true, connection);
    }
    Buffer PlaceFor(size_t size, size_t offset, size_t bytes) override {
      return call_.place() == nullptr ? Buffer() : call_.place()->Lend(this, size, offset, bytes);
    }
    std::shared_ptr<void> HoldPlace() override { return call_.HoldPlace(); }
    void Cancel() override { call_.Cancel(); }

    ServerSet::ServerId server = 0;
    std::shared_ptr<ClientSession> session;  // null: not under way
    TimePoint began{};

   private:
    RoutedCall& call_;
  };
  // Of a call whose frame is more than a head, or that may be sent twice at once.
  struct Further {
    Buffer rest;                    // behind the head; kept while there may be another attempt
    std::optional<Attempt> second;  // the backup request
  };
  enum class Waiting : uint8_t { kForNothing, kForNames, kToRetry, kForBackup };

  // Null: there is none.
  Attempt* second() {
    Further* const further = further_.IfMade();
    return further != nullptr && further->second ? &*further->second : nullptr;
  }
  void Go();
  Buffer ShareRest();
  Buffer TakeRest();
  void Place(Attempt& attempt);
  absl::string_view head() { return {memory(), head_size_}; }
  Buffer FrameAgain(uint64_t attempt_id);
  void OnAnswer(Attempt& attempt, Frame& frame, const Info& connection);
  void OnFailure(Attempt& attempt, int code, absl::string_view text, bool may_have_run,
                 const Info& connection);
  bool MayRetry(int code, absl::string_view text, TimePoint then);
  void Release(Attempt& attempt, ServerSet::Outcome outcome, bool reusable);
  void Drop(Attempt& attempt, ServerSet::Outcome outcome);
  void Await(Waiting what, TimePoint until);
  void StopWaiting();
  void FinishFailed(int code, absl::string_view text);
  void Finish();

  Cluster* cluster_ = nullptr;
  uint64_t id_ = 0;
  Plan plan_;
  size_t head_size_ = 0;  // of the frame, in memory()
  int retries_ = 0;
  int attempts_ = 0;
  bool may_have_run_ = false;  // any of them
  bool answer_broke_ = false;  // of any of them: it came in part
  Waiting waiting_ = Waiting::kForNothing;
  TimePoint alarm_ = TimePoint::max();  // max(): none is set
  Attempt first_{*this};
  absl::InlinedVector<ServerSet::ServerId, 4> tried_;
  OnDemand<Further> further_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_ROUTED_CALL_H_
