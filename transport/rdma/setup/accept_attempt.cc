// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/accept_attempt.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/why_not_rdma.h"

namespace farcall {

void AcceptAttempt::Accept(RdmaHost& host, Admission& admission, std::unique_ptr<Endpoint> end,
                           const std::string& data) {
  std::shared_ptr<AcceptAttempt> self(new AcceptAttempt(host, std::move(end)));
  self->end_->SetHandler(*self);
  absl::Status begun = self->Begin(admission, data);
  if (!begun.ok()) self->Refuse(WhyNotRdma::kDeviceRefused, begun);
}

AcceptAttempt::AcceptAttempt(RdmaHost& host, std::unique_ptr<Endpoint> end)
    : host_(host), end_(std::move(end)), timer_([this] {
        Refuse(WhyNotRdma::kTimedOut, absl::DeadlineExceededError("half open for too long"));
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

void AcceptAttempt::OnCmEvent(const CmEventInfo& cm_event) {
  switch (cm_event.type) {
    case RDMA_CM_EVENT_ESTABLISHED:
      if (state_ == State::kAccepting) return Open();
      return Finish();
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return Finish();
    default:  // says nothing about this connection
      return;
  }
}

void AcceptAttempt::OnEnrolled(const absl::Status& status) {
  if (state_ != State::kAdmitted) return;
  if (!status.ok()) return Refuse(WhyNotRdma::kDeviceRefused, status);
  state_ = State::kAccepting;
  const absl::Status accepted = AcceptNow();
  if (accepted.ok()) return;
  // The kernel may have rejected it already, without a word why.
  Reject(accepted);
  Finish();
}

void AcceptAttempt::Cancel() {
  Refuse(WhyNotRdma::kRejected, absl::CancelledError("this process is ending"));
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

// Until it is accepted the peer waits for an answer. Where it failed the reason may be known
// better.
void AcceptAttempt::Refuse(WhyNotRdma why, const absl::Status& detail) {
  if (state_ == State::kAdmitted) {
    Reject(CarriesReason(detail) ? detail : NotRdma(why, detail.message()));
  }
  Finish();
}

void AcceptAttempt::Reject(const absl::Status& why) {
  const std::string bytes = EncodeRejectData({.why = ReasonOf(why), .text = DetailOf(why)});
  if (pair_ != nullptr) return pair_->end().Reject(bytes);
  if (end_ != nullptr) end_->Reject(bytes);
}

void AcceptAttempt::Finish() {
  if (state_ == State::kOver) return;
  // Drop may drop the last reference but for this one.
  const auto self = shared_from_this();
  state_ = State::kOver;
  host_.parts().control.CancelTimer(timer_);
  if (pair_ != nullptr) {
    std::exchange(pair_, nullptr)
        ->Retire(QueuePair::Ending::kDrain, absl::CancelledError("not accepted"));
  }
  end_.reset();
  host_.Drop(*this);
}

}  // namespace farcall
