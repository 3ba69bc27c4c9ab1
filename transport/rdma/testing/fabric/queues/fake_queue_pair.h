// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_QUEUE_PAIR_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_QUEUE_PAIR_H_

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/rdma/testing/fabric/device/fake_memory.h"
#include "transport/rdma/testing/fabric/queues/fake_completion_queue.h"
#include "transport/rdma/testing/fabric/queues/fake_receive_queue.h"
#include "transport/rdma/testing/fabric/queues/fake_send_queue.h"

namespace farcall {

class FakeQpTable;

// Reliable connected. Positions count its sends: those below `completed` are answered,
// those below `sent` are delivered. With the fabric's mutex held.
class FakeQp : public ibv_qp {
 public:
  // `id`: of rdma_create_qp; null: of ibv_create_qp.
  FakeQp(FakeQpTable& table, rdma_cm_id* id, FakePd& domain, const ibv_qp_init_attr& init,
         uint32_t number);

  // As the verbs: an errno, or 0.
  int PostSend(const ibv_send_wr& request);
  int PostReceive(const ibv_recv_wr& request);
  int Modify(const ibv_qp_attr& attr, int mask);
  ibv_qp_attr Attributes() const;

  // Joined to the peer and ready to send.
  void Connect(FakeQp& peer, bool passive, uint8_t retry_count, uint8_t rnr_retry,
               uint8_t ack_timeout);
  // RDMA READs at once that it begins, and that it answers.
  void SetReads(uint8_t begins, uint8_t answers);
  uint8_t begins() const { return begins_; }
  uint8_t answers() const { return answers_; }
  // To the error state; what is posted flushes.
  void Break();
  void Destroy();

  // What it does by itself, one thing at a time. `choice` decides where there is one.
  bool CanMove() const;
  void Move(uint64_t choice);
  // kImmediate: all that it can do.
  void Pump();
  // A receive was posted where it waits for one.
  void OnReceivePosted();
  // The path or the state of the peer changed.
  void OnPeerChanged();
  // A time-out or another retry, if that is due. True: there was something.
  bool OnTime(uint64_t now);
  bool timed() const { return wait_until_ != 0; }

  void OnPolled(uint64_t position) { sends_.OnPolled(position); }
  bool Holds(const FakeMr& region) const;

  FakeDevice& device() const { return domain_.owner.owner; }
  FakeContext& owner() const { return domain_.owner; }
  FakeReceiveQueue& own_receives() { return own_receives_; }
  rdma_cm_id* id() const { return id_; }
  bool destroyed() const { return destroyed_; }
  int events_taken = 0;
  int events_acknowledged = 0;

 private:
  enum class Wait { kNothing, kReceive, kPeer, kLost };

  // fake_verbs_pair.cc: without an id.
  int ModifyByVerbs(const ibv_qp_attr& attr, int mask);
  int ToReceive(const ibv_qp_attr& attr);
  FakeQp* FindPeer(const ibv_qp_attr& attr) const;
  uint16_t partition() const { return device().options.partitions[partition_index_]; }
  // Whether what is sent now reaches the peer's queue pair, and is expected there.
  bool Joined() const;

  FakeReceiveQueue& receives() { return shared_ != nullptr ? shared_->receives : own_receives_; }
  void CountReads();
  void Transmit();
  bool MayTransmit() const;
  void RunLocal(FakeSend& send);
  void Ask(FakeSend& send);
  void TakeAnswer(FakeSend& send);
  void WriteLate(FakeSend& send);
  void Deliver(const FakeSend& send, FakeReceiveQueue& queue);
  // Of the receive that is taken now.
  ibv_wc_status ReceiveFault();
  bool CanAnswer() const;
  void Acknowledge();
  void WaitForReceive(FakeReceiveQueue& queue);
  void WaitForAnswer();
  // False: this broke it.
  bool AnswerAll();
  // The oldest send that is not answered; breaks.
  void FailOldest(ibv_wc_status status, uint32_t vendor_error);
  void CompleteSend(ibv_wc_status status, uint32_t vendor_error);
  void CompleteReceive(const FakeReceive& receive, ibv_wc_status status, const FakeSend* send,
                       uint32_t source);
  bool Flushes() const;
  bool CanFlush() const;
  void TakeAhead();
  void RaiseLastReceive();
  void FlushOne();

  FakeHost& host_;
  FakeQpTable& table_;
  rdma_cm_id* const id_;
  FakePd& domain_;
  FakeCq& send_cq_;
  FakeCq& receive_cq_;
  FakeSrq* const shared_;
  const ibv_qp_init_attr init_;
  FakeReceiveQueue own_receives_;
  std::vector<FakeReceive> ahead_;                   // of shared_, since this errs
  std::chrono::steady_clock::time_point failed_at_;  // by the clock: last_wqe_patience
  FakeSendQueue sends_;
  FakeQp* peer_ = nullptr;
  bool passive_ = false;
  bool received_ = false;
  bool destroyed_ = false;
  Wait wait_ = Wait::kNothing;
  uint64_t wait_until_ = 0;  // step of the time-out; 0: none
  uint8_t rnr_left_ = 0;
  uint8_t retry_count_ = 0;
  uint8_t rnr_retry_ = 0;
  uint8_t ack_timeout_ = 0;
  uint8_t min_rnr_timer_ = 0;   // 655 ms
  uint32_t receives_from_ = 0;  // packet numbers: the first that it takes, and that it sends
  uint32_t sends_from_ = 0;
  uint16_t partition_index_ = 0;
  ibv_ah_attr path_{};                        // without an id
  ibv_mtu path_mtu_{};                        // the same
  uint32_t access_ = IBV_ACCESS_REMOTE_READ;  // of rdma_cm
  uint8_t begins_ = 0;                        // RDMA READs
  uint8_t answers_ = 0;
  uint32_t asking_ = 0;  // READs that are not answered
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_QUEUE_PAIR_H_
