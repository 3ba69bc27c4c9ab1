// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_SUBJECT_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_SUBJECT_H_

#include <infiniband/verbs.h>

namespace farcall {

// Which member of the union of ibv_async_event is set, by ibv_get_async_event(3).
enum class FakeSubject { kQueuePair, kCompletionQueue, kReceiveQueue, kPort, kDevice };

constexpr FakeSubject SubjectOf(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return FakeSubject::kQueuePair;
    case IBV_EVENT_CQ_ERR:
      return FakeSubject::kCompletionQueue;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return FakeSubject::kReceiveQueue;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      return FakeSubject::kPort;
    default:
      return FakeSubject::kDevice;
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_SUBJECT_H_
