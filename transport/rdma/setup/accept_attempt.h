// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_ACCEPT_ATTEMPT_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_ACCEPT_ATTEMPT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "transport/rdma/cm/cm_source.h"
#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/rdma/host/queue_pair.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/setup/admission.h"

namespace farcall {

// One connection that is being accepted: its queue pair is made, then the peer gets the answer. It
// is given to its loop when rdma_cm says that it is established; the message that lets it send may
// come before or after. On iWARP the connecting side must send first: that this message is waited
// for is the channel's (message_channel.h). Bounded in time by RdmaOptions::connect_timeout, in
// number by the host. With the control loop held.
class AcceptAttempt final : public std::enable_shared_from_this<AcceptAttempt>,
                            public RdmaHost::Attempt,
                            private QueuePair::SetUp {
 public:
  // `end`: of who asks to be connected, and has sent `data` with that.
  static void Accept(RdmaHost& host, Admission& admission, std::unique_ptr<Endpoint> end,
                     const std::string& data);
  ~AcceptAttempt() override;

 private:
  enum class State : uint8_t { kAdmitted, kAccepting, kOver };

  AcceptAttempt(RdmaHost& host, std::unique_ptr<Endpoint> end);

  absl::Status Begin(Admission& admission, const std::string& private_data);
  absl::Status MakePair(const ConnectData& data);
  void OnCmEvent(const CmEventInfo& cm_event) override;
  void OnEnrolled(const absl::Status& status) override;
  void OnLost(const absl::Status&) override { Finish(); }
  void Cancel() override;
  absl::Status AcceptNow();
  void Open();
  void Refuse(WhyNotRdma why, const absl::Status& detail);
  void Reject(const absl::Status& why);
  void Finish();

  RdmaHost& host_;
  State state_ = State::kAdmitted;
  std::unique_ptr<Endpoint> end_;    // until pair_ has it
  std::shared_ptr<QueuePair> pair_;  // until it is open
  Admitted admitted_;
  uint32_t generation_ = 0;
  ReceiveTerms peer_;
  Timer timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_ACCEPT_ATTEMPT_H_
