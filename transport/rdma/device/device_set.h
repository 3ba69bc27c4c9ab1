// SPDX-License-Identifier: Apache-2.0
//
// DeviceSet: the RDMA devices of this host as librdmacm sees them, those that may be used,
// and those that are in use. Which device carries a connection is for rdma_cm to say: it
// follows from the addresses, and is cm_id->verbs once the id is bound or resolved.

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_SET_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_SET_H_

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/episode_log.h"
#include "transport/rdma/device/device.h"
#include "transport/rdma/device/host_view.h"
#include "transport/rdma/device/local_port.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"
#include "transport/rdma_status.h"

namespace farcall {

// What rdma_get_devices(3) gave. The contexts in it stay open as long as this lives. With the
// control loop held.
class DeviceList {
 public:
  explicit DeviceList(const VerbsApi& api);
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList();

  std::vector<ibv_context*> contexts() const;
  // The errno where there is no list; ENODEV also if there is just no device.
  int error() const { return error_; }

 private:
  const VerbsApi& api_;
  int count_ = 0;
  int error_ = 0;
  ibv_context** contexts_;
};

// Whether libibverbs sees this device, which is what librdmacm goes by to tell whether one is
// gone. It may give no contexts though there are devices: because it could not open one. True
// also when that cannot be known.
bool IsListed(const VerbsApi& api, const ibv_device* device);

// All with the control loop held.
class DeviceSet {
 public:
  // What is passed by reference outlives this. `log` gets the choice of devices, each
  // time that it changes; it may be empty.
  DeviceSet(const VerbsApi& api, const RdmaOptions& options, RdmaRegistrar& registrar,
            const EpisodeLog::Sink& log, HostView host = {});
  DeviceSet(const DeviceSet&) = delete;
  DeviceSet& operator=(const DeviceSet&) = delete;
  // Nothing that was created with a device is left.
  ~DeviceSet();

  // Looks at all devices again, and gives Availability(). Milliseconds.
  absl::Status Refresh();
  // Whether some device can be used, as of the last Refresh or Find; else the reason that
  // came nearest to it: no device, not permitted, excluded, no active port, no address,
  // memlock, refused. The detail names each device and what is wrong with it.
  absl::Status Availability() const;

  // The device of cm_id->verbs, opened if it is not: its domain is allocated and the pool
  // registered with it. Valid until Remove. Fails with the reason why that device cannot be
  // used.
  absl::StatusOr<RdmaDevice*> Find(ibv_context* context);

  // Opened devices that the last Refresh did not see any more and that libibverbs does not see
  // either. What was created with them is
  // to be destroyed, then they are to be Removed.
  std::vector<RdmaDevice*> Gone() const;
  // Closes the device of `context`, if it is open, and looks again. If the device is gone, that
  // lets its context go, for which the kernel's removal of the device waits. Nothing that was
  // created with it is left.
  void Remove(ibv_context* context);

  // Whether it keeps contexts open, used or not.
  bool keeps_any() const { return !entries_.empty(); }
  // All that the last Refresh saw or that are open, with why they are not used; counts are 0.
  std::vector<RdmaDeviceStatus> Statuses() const;
  // Why the device of this context may not be used, as of the last Refresh; OK: it may.
  absl::Status WhyNot(ibv_context* context) const;
  // Whether the last Refresh saw it.
  bool Sees(ibv_context* context) const;
  // The active ports of the devices that may be used, as of the last Refresh. Until the next one.
  struct ActivePort {
    ibv_context* context = nullptr;
    const DeviceInfo& device;
    const DevicePort& port;
  };
  std::vector<ActivePort> ActivePorts() const;
  // The devices that may be used, as of the last Refresh.
  std::vector<const DeviceInfo*> Usable() const;
  // The ports of those for set-up without rdma_cm, the best first of each; none if the options say
  // rdma_cm only.
  std::vector<LocalPort> Ports() const;
  // Each active port and each address of those, by a name: what comes is a name that is new. An
  // error: the host's addresses cannot be read now.
  absl::StatusOr<std::set<std::string>> UsablePlaces() const;

 private:
  struct Verdict;
  struct Entry;

  static Verdict VerdictOf(const absl::Status& error);
  bool LetGo(const Entry& entry, bool others) const;
  void See(const std::shared_ptr<DeviceList>& list, ibv_context* context);
  Verdict Judge(const DeviceInfo& info) const;
  std::string WhyNotOverTcp(const DeviceInfo& info) const;
  bool Excluded(const std::string& name) const;
  absl::Status OpenEntry(Entry& entry);
  Entry* EntryOf(ibv_context* context) const;
  void LogChoice();

  const VerbsApi& api_;
  const RdmaOptions& options_;
  RdmaRegistrar& registrar_;
  const EpisodeLog::Sink& log_;
  const HostView host_;
  std::shared_ptr<DeviceList> last_;  // that was not empty
  std::vector<std::unique_ptr<Entry>> entries_;
  std::array<bool, kMaxRdmaDevices> taken_{};  // indices
  absl::Status nothing_;                       // why there is no entry
  std::string logged_;                         // the last line that was logged
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_SET_H_
