// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_CM_FAKE_CM_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_CM_FAKE_CM_H_

#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport/rdma/testing/fabric/cm/fake_cm_id.h"

namespace farcall {

struct FakeHost;
class FakeQpTable;

// What is to happen at an id; for one id in order, for several in any.
class FakeCmSchedule {
 public:
  explicit FakeCmSchedule(const FakeHost& host) : host_(host) {}

  void Add(const FakeId& id, uint64_t steps, std::function<void()> run);
  bool empty() const { return actions_.empty(); }
  // Those that may happen now, by index.
  std::vector<size_t> Ready() const;
  void Run(size_t index);

  uint64_t delay = 0;  // steps more, of what is added from now on

 private:
  struct Action {
    uint64_t due;
    const FakeId* id;
    std::function<void()> run;
  };

  const FakeHost& host_;
  std::vector<Action> actions_;
};

// The connection manager: librdmacm and the kernel's part. The methods are the calls of
// the table, with the fabric's mutex held and `id` alive; they give an errno, or 0.
class FakeCm {
 public:
  // `pairs` outlives it, and tells it which streams end.
  FakeCm(FakeHost& host, FakeQpTable& pairs);

  FakeCmChannel& AddChannel();
  FakeId& AddId(FakeCmChannel& channel, void* user);
  int Bind(FakeId& id, const Address& address);
  int Listen(FakeId& id, int backlog);
  int ResolveAddress(FakeId& id, const Address& source, const Address& destination);
  int ResolveRoute(FakeId& id);
  int CreateQp(FakeId& id, ibv_pd* pd, ibv_qp_init_attr& init);
  void DestroyQp(FakeId& id);
  int Connect(FakeId& id, const rdma_conn_param& param);
  int Accept(FakeId& id, const rdma_conn_param& param);
  int Reject(FakeId& id, const void* data, uint8_t bytes);
  int Disconnect(FakeId& id);
  int SetOption(FakeId& id, int level, int option, const void* value, size_t bytes);
  void Destroy(FakeId& id);
  // The next event of a channel that has one, made ready as librdmacm does.
  FakeCmEvent* Take(FakeCmChannel& channel);
  // False: no such event.
  bool Acknowledge(const rdma_cm_event* event);

  void OnDeviceRemoved(FakeDevice& device);
  // An event of this type for each id of the device.
  void Inject(const FakeDevice& device, rdma_cm_event_type type, int status);
  // kImmediate: all that may happen now.
  void Pump() {
    if (!schedule.empty()) [[unlikely]] {
      PumpAll();
    }
  }
  bool InUse(const FakeContext& context) const;
  void AddLeaks(std::vector<std::string>& leaks) const;

  FakeCmSchedule schedule;
  int reject_next = 0;
  bool lose_next = false;
  int fail_address = 0;
  int fail_route = 0;

 private:
  // Reasons to reject, of the InfiniBand connection manager (12.6.7.2 of the
  // specification).
  static constexpr int kTimeout = 4;
  static constexpr int kInvalidService = 8;
  static constexpr int kByConsumer = 28;

  void PumpAll();
  // iWARP: the stream under these two ended.
  void OnStreamBroken(FakeQp& qp, FakeQp* peer);
  // Carries a message to `to`: `arrive` runs there, or `lost` here, later.
  void Carry(FakeId& from, FakeId& to, std::function<void()> arrive, std::function<void()> lost);
  FakeCmEvent& Report(FakeId& id, rdma_cm_event_type type, int status);
  static void Attach(FakeCmEvent& event, const std::string& data, size_t padded);
  FakeDevice* DeviceAt(const Address& address) const;
  FakeDevice* SourceDevice(const Address& source, FakeDevice& destination,
                           AddressFamily family) const;
  bool PortTaken(const FakeId& id, const Address& address) const;
  FakeId* Listener(const FakeId& active) const;

  static void SetAddresses(FakeId& passive, const FakeId& active);

  void OnAddress(FakeId& id);
  void TakeAddress(FakeId& id);
  void OnRequest(FakeId& active, const rdma_conn_param& param, const std::string& data);
  void OnReply(FakeId& active, const rdma_conn_param& param, const std::string& data);
  void OnRejected(FakeId& active, int reason, const std::string& data);
  void OnDisconnect(FakeId& id);
  void EndDisconnect(FakeId& id, int status);
  // To the peer's disconnecting.
  void Answer(FakeId& id);
  void TimeWait(FakeId& id);
  // Nothing listens there.
  bool Refused(const FakeId& active) const;
  // Turns the reply into ESTABLISHED or CONNECT_ERROR.
  void Establish(FakeId& active, FakeCmEvent& event);
  // It goes away: tells the peer as its state demands.
  void Leave(FakeId& id);
  // A request that will not be read.
  void Abandon(FakeId& passive);
  std::function<void()> Unreachable(FakeId& id);

  FakeHost& host_;
  FakeQpTable& pairs_;
  std::vector<std::unique_ptr<FakeCmChannel>> channels_;
  std::vector<std::unique_ptr<FakeId>> ids_;
  std::vector<std::unique_ptr<FakeCmEvent>> taken_;
  uint16_t next_port_ = 32'768;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_CM_FAKE_CM_H_
