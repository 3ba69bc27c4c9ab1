// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/rdma/device/context_use.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_status.h"
#include "transport/upgrade.h"

namespace farcall {

struct DevicePort {
  uint8_t number = 0;  // from 1
  bool active = false;
  LinkLayer link_layer = LinkLayer::kUnknown;
  uint32_t active_mtu = 0;  // bytes
  uint16_t lid = 0;         // InfiniBand: its address in the subnet; 0: none yet
  uint32_t rate = 0;        // Mb/s; 0: unknown
  // The key of queue pairs that are set up without rdma_cm, 16 bits, and its place in the port's
  // table. Key 0: not read. No place: the port does not have the key that is wanted.
  uint16_t partition = 0;
  std::optional<uint16_t> partition_index = 0;
  // InfiniBand: packets want a global route header within the subnet too, ibv_query_port(3).
  bool needs_route_header = false;
};

// An entry of a port's GID table, ibv_query_gid_table(3).
struct DeviceGid {
  uint8_t port = 0;
  uint32_t index = 0;
  ibv_gid_type type = IBV_GID_TYPE_IB;
  uint32_t interface_index = 0;  // of the network interface; 0: none, or unknown
  Address address;               // the 16 bytes as an IP address, which they are on RoCE
  std::array<uint8_t, 16> bytes{};
};

// "InfiniBand", "RoCE", "iWARP", "unknown".
absl::string_view LinkLayerName(LinkLayer link_layer);

// What a device says of itself.
struct DeviceInfo {
  std::string name;
  std::vector<DevicePort> ports;
  std::vector<DeviceGid> gids;
  ibv_device_attr caps{};  // limits, ibv_query_device(3)
  int numa_node = -1;      // -1: none, or not read

  // Whether IBV_EVENT_QP_LAST_WQE_REACHED follows the error of each queue pair with a shared queue.
  bool tells_last_receive() const;
  // Whether it has memory windows that are bound by a work request, and RDMA READ into memory
  // that is not open to any peer, which iWARP has not (RFC 5040, 7.1).
  bool has_windows() const;
  // Whether it does a bind once more when it sends again what was posted before the bind, which
  // fails, and after which the queue pair does nothing more and says nothing.
  bool binds_again() const;
  bool active() const;           // some port is
  LinkLayer link_layer() const;  // of the first active port, else of the first
  // Whether rdma_cm may find it by this address of the host.
  bool MayCarry(const Address& local) const;
};

// What it says of itself, for people; the rest is not set.
RdmaDeviceStatus StatusOf(const DeviceInfo& info);

// Some system calls. The error names the device.
absl::StatusOr<DeviceInfo> QueryDevice(const VerbsApi& api, ibv_context* context);

// A device that connections use: its domain, with all of the pool registered. With the
// control loop held; what is const may be read by any thread.
class RdmaDevice {
 public:
  // `windows`: are bound to registered memory. `index`: below kMaxRdmaDevices, no other device's.
  // The context stays open as long as this lives.
  static absl::StatusOr<std::unique_ptr<RdmaDevice>> Open(const VerbsApi& api, ibv_context* context,
                                                          size_t index, DeviceInfo info,
                                                          RdmaRegistrar& registrar,
                                                          bool relaxed_ordering,
                                                          bool windows = false);
  RdmaDevice(const RdmaDevice&) = delete;
  RdmaDevice& operator=(const RdmaDevice&) = delete;
  // Nothing that was created with its domain or context is left.
  ~RdmaDevice();

  const VerbsApi& api() const { return api_; }
  ibv_context* context() const { return context_; }
  ibv_pd* pd() const { return pd_.get(); }
  size_t index() const { return index_; }           // in RegionKeys
  const DeviceInfo& info() const { return info_; }  // when it was opened
  const std::string& name() const { return info_.name; }
  LinkLayer link_layer() const { return info_.link_layer(); }

 private:
  RdmaDevice(const VerbsApi& api, ibv_context* context, size_t index, DeviceInfo info,
             RdmaRegistrar& registrar, ProtectionDomain pd);

  const VerbsApi& api_;
  ibv_context* const context_;
  const size_t index_;
  const DeviceInfo info_;
  RdmaRegistrar& registrar_;
  const ContextUse use_;  // until the domain is no more
  const ProtectionDomain pd_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_H_
