// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/accept_attempt.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_events.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/setup/set_up_error.h"
#include "transport/why_not_rdma.h"

namespace farcall {

void AcceptAttempt::Accept(RdmaHost& host, Admission& admission, std::unique_ptr<Endpoint> end,
                           const std::string& data) {
  std::shared_ptr<AcceptAttempt> self(new AcceptAttempt(host, std::move(end)));
  self->end_->SetHandler(*self);
  absl::Status begun = self->Begin(admission, data);
  if (!begun.ok()) self->Step(AcceptEvent::kSetUpFailed, begun);
}

AcceptAttempt::AcceptAttempt(RdmaHost& host, std::unique_ptr<Endpoint> end)
    : host_(host), end_(std::move(end)), timer_([this] {
        Step(AcceptEvent::kTimeout, absl::DeadlineExceededError("half open for too long"));
      }) {}

AcceptAttempt::~AcceptAttempt() {
  Check(end_ == nullptr && pair_ == nullptr, "an accept ends before it dies");
}

absl::Status AcceptAttempt::Begin(Admission& admission, const std::string& private_data) {
  auto data = DecodeConnectData(private_data);
  if (!data.ok()) return NotRdma(WhyNotRdma::kRejected, data.status().message());
  if (!host_.Keep(shared_from_this(), /*incoming=*/true)) {
    return NotRdma(WhyNotRdma::kCapacity, "too many connections are being set up");
  }
  EventLoop& control = host_.parts().control;
  control.SetTimer(timer_, control.now() + host_.parts().options.connect_timeout);
  auto admitted = admission.Admit(*data, end_->local());
  if (!admitted.ok()) return admitted.status();
  admitted_ = *std::move(admitted);
  generation_ = data->generation;
  peer_ = data->receives;
  return MakePair(*data);
}

absl::Status AcceptAttempt::MakePair(const ConnectData& data) {
  const absl::Status set = end_->SetTrafficClass(admitted_.options.traffic_class);
  if (!set.ok()) return set;
  const auto use = host_.UseOf(end_->context());
  if (!use.ok()) return use.status();
  auto pair = (*use)->CreatePair(*admitted_.loop, end_, *this);
  if (!pair.ok()) return pair.status();
  pair_ = *std::move(pair);
  pair_->Enroll(data.receives, admitted_.trust);
  return absl::OkStatus();
}

void AcceptAttempt::OnSetUpEvent(const CmEventInfo& cm_event) {
  if (const auto event = AcceptEventOf(cm_event.type)) {
    Step(*event, absl::UnavailableError(host_.parts().api.rdma.event_str(cm_event.type)));
  }
}

void AcceptAttempt::OnEnrolled(const absl::Status& status) {
  Step(status.ok() ? AcceptEvent::kPrepared : AcceptEvent::kSetUpFailed, status);
}

void AcceptAttempt::OnLost(const absl::Status& why) { Step(AcceptEvent::kDeviceRemoved, why); }

void AcceptAttempt::Cancel() {
  Step(AcceptEvent::kCancelled, absl::CancelledError("this process is ending"));
}

void AcceptAttempt::Step(AcceptEvent event, const absl::Status& detail) {
  // Finish may drop the last reference but for this one.
  const auto self = shared_from_this();
  const AcceptStep step = Advance(state_, event);
  state_ = step.next;
  switch (step.action) {
    case AcceptAction::kAccept: {
      const absl::Status accepted = AcceptNow();
      if (accepted.ok()) return;
      // The kernel may have rejected it already, without a word why.
      Reject(accepted);
      return Step(AcceptEvent::kSetUpFailed, accepted);
    }
    case AcceptAction::kReject:
      Reject(CarriesReason(detail) ? detail : NotRdma(step.why, detail.message()));
      return Finish();
    case AcceptAction::kFail:
      return Finish();
    case AcceptAction::kOpen:
      return Open();
    case AcceptAction::kNone:
      return;
  }
}

absl::Status AcceptAttempt::AcceptNow() {
  AcceptData data;
  data.generation = generation_;
  data.answer = admitted_.answer;
  data.receives = pair_->terms();
  const auto bytes = EncodeAcceptData(data);
  // The peer's queue pair is made ready with what this says, which its device may not do: an answer
  // asks for no more than the request offered.
  rdma_conn_param param = ConnectParameters(
      host_.parts().options, bytes, data.receives.AnswersTo(peer_), data.receives.BeginsAt(peer_));
  const Clock& clock = host_.parts().control.clock();
  const TimePoint began = clock.Now();
  const int error = pair_->end().Accept(param);
  if (error == 0) return absl::OkStatus();
  if (pair_->end().set_up() == "tcp") host_.LookedInVain(clock.Now() - began);
  return SetUpError(pair_->end(), error);
}

void AcceptAttempt::Open() {
  auto pair = std::move(pair_);
  ConnectionInfo info;
  info.local = pair->end().local();
  info.peer = pair->end().peer();
  pair->Open(std::nullopt, admitted_.options, std::move(info), std::move(admitted_.deliver));
  Finish();
}

void AcceptAttempt::Reject(const absl::Status& why) {
  const std::string bytes = EncodeRejectData({.why = ReasonOf(why), .text = DetailOf(why)});
  if (pair_ != nullptr) return pair_->end().Reject(bytes);
  if (end_ != nullptr) end_->Reject(bytes);
}

void AcceptAttempt::Finish() {
  host_.parts().control.CancelTimer(timer_);
  if (pair_ != nullptr) {
    std::exchange(pair_, nullptr)
        ->Retire(QueuePair::Ending::kDrain, absl::CancelledError("not accepted"));
  }
  end_.reset();
  host_.Drop(*this);
}

}  // namespace farcall
