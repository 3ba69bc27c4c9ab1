// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_FAULTS_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_FAULTS_H_

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace farcall {

struct FakeWorld;

// What can go wrong on a FakeFabric, at the test's word. Any thread.
class FakeFaults {
 public:
  explicit FakeFaults(FakeWorld& world) : world_(world) {}

  // The `nth` call from now (1: the next) of a function of the table or of ibv_context.ops,
  // by its full name ("ibv_reg_mr", "ibv_post_send"), fails with `error`, an errno.
  // "rdma_establish" is what librdmacm does inside rdma_get_cm_event when the reply to
  // rdma_connect has come: failing it makes CONNECT_ERROR of ESTABLISHED.
  void FailCall(absl::string_view name, int nth, int error);
  // Every call of it fails from now on, until this is said with 0.
  void FailEvery(absl::string_view name, int error);
  // The call with this number, counted over the fabric's life from 1, fails. What gives
  // things back (destroy, free, ack) is not counted, since it does not fail in operation.
  void FailCallNumber(uint64_t number, int error);
  // Calls counted so far.
  uint64_t calls() const;
  // The name of the call that failed last by the two above; empty: none did.
  std::string last_failed_call() const;
  // From now on the names of counted calls are kept.
  void RecordCalls();
  std::vector<std::string> recorded_calls() const;

  // The `nth` send from now of this device completes with `status`, and its queue pair
  // breaks. `delivered`: the peer has got the message all the same.
  void FailSend(absl::string_view device, int nth, ibv_wc_status status, uint32_t vendor_error,
                bool delivered = false);
  // The `nth` message from now that finds a receive of this device completes it with
  // `status`, and both queue pairs break: what a receive that fails is to the sender is
  // IBV_WC_REM_OP_ERR.
  void FailReceive(absl::string_view device, int nth, ibv_wc_status status);
  // Queue pairs of a device that are connected (RTS), oldest first, by qp_num.
  std::vector<uint32_t> QueuePairs(absl::string_view device) const;
  // Puts it into error as the device would: what is posted is flushed; the connection
  // manager says nothing.
  void BreakQueuePair(uint32_t qp_num);

  enum class Cut {
    kReported,  // senders see RETRY_EXC_ERR after options.retry_steps
    kSilent,    // without any event
  };
  // Between two devices (which may be the same), both directions, messages of the
  // connection manager included.
  void CutPath(absl::string_view a, absl::string_view b, Cut cut);
  // What was cut flows again; what waited and did not fail yet is delivered.
  void HealPath(absl::string_view a, absl::string_view b);

  // FakeDeviceOptions::permitted and memlock from now on, as when a process gives up privileges:
  // what is open stays so, and what is registered too.
  void SetPermitted(absl::string_view device, bool permitted);
  void SetMemlock(absl::string_view device, uint64_t bytes);

  // IBV_EVENT_PORT_ERR or PORT_ACTIVE to all who have the device open; messages to and from
  // a port that is down are lost, as by CutPath(kReported).
  void SetPort(absl::string_view device, bool active);

  // Its GIDs are so many entries further in their table from now on, as when its interface was made
  // anew. There is no event.
  void MoveGids(absl::string_view device, uint32_t entries);

  // From now on queue pairs of the device that err keep what they took of a shared receive queue,
  // say nothing of it (no IBV_EVENT_QP_LAST_WQE_REACHED), and take it with them.
  void KeepReceives(absl::string_view device);

  // To all who have the device open, and what is about queue pairs, completion queues or
  // shared receive queues for each that there is; nothing else happens to the device.
  void RaiseEvent(absl::string_view device, ibv_event_type type);
  // What rdma_cm may say at any time, to each id of the device that has one: nothing else
  // happens to it, but that librdmacm breaks the queue pair of who is REJECTED. Not
  // CONNECT_REQUEST, which brings an id.
  void InjectEvent(absl::string_view device, rdma_cm_event_type type, int status);

  // Unplugs it: RDMA_CM_EVENT_DEVICE_REMOVAL to all ids on it, DISCONNECTED to their
  // peers. `flush`: queue pairs flush as with siw; else nothing completes, as with rxe.
  void RemoveDevice(absl::string_view device, bool flush);
  // While the kernel's removal waits for this process: until its objects on the device are
  // destroyed, its contexts closed, and librdmacm asked again (rdma_get_devices) while it sees
  // another device, or release_context called.
  bool RemovalPending(absl::string_view device) const;
  // Plugs it in again. False: the removal is still pending ("File exists").
  bool AddDevice(absl::string_view device);

  // What libibverbs and librdmacm make of a look at the devices that failed in part, as it does for
  // want of descriptors: the device gets another ibv_device and another context, while what was
  // made with the old ones works on. There is no event.
  void ReplaceContext(absl::string_view device);

  // The next connect request is answered by a reject with this status (an IB CM reason),
  // without asking the listener.
  void RejectNextConnect(int reason);
  // The next connect request is lost: UNREACHABLE after options.connect_steps.
  void LoseNextConnect();
  // The next rdma_resolve_addr or _route ends in ADDR_ERROR or ROUTE_ERROR with this
  // status (a negative errno).
  void FailNextAddress(int status);
  void FailNextRoute(int status);
  // Events of the connection manager come so many steps later; 0: no more delay.
  void DelayConnectionEvents(uint64_t steps);

 private:
  FakeWorld& world_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_FAULTS_H_
