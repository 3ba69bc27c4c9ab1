// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_HOST_RDMA_HOST_H_
#define FARCALL_TRANSPORT_RDMA_HOST_RDMA_HOST_H_

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/rdma/choice/past_failures.h"
#include "transport/rdma/cm/cm_source.h"
#include "transport/rdma/device/device_set.h"
#include "transport/rdma/device/device_watch.h"
#include "transport/rdma/device/host_view.h"
#include "transport/rdma/device/port_counts.h"
#include "transport/rdma/device/rdma_parts.h"
#include "transport/rdma/host/arrivals.h"
#include "transport/rdma/host/device_use.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// What the RDMA transport has of this host: the library, the channel of rdma_cm, the devices
// and what uses them. Empty until something is asked of it. With the control loop held, but for
// constructor, destructor and usable().
class RdmaHost {
 public:
  struct Options {
    // The table; an error with its reason. Milliseconds.
    std::function<absl::StatusOr<VerbsApi>()> load;
    EventLoop& control;
    BlockPool& pool;
    RdmaRegistrar& registrar;
    RdmaOptions rdma;
    HostView view;
    EpisodeLog::Sink log;         // may be empty
    CopyTally* copied = nullptr;  // what connections copy is counted there, too
    // The NUMA node of the processors that drive a loop; -1: of several, or not known. May be null.
    std::function<int(const EventLoop&)> node_of = nullptr;
    // Of the choice between adapters that are equal. None: a random one.
    std::optional<uint64_t> seed = std::nullopt;
    // Gets the NUMA nodes of the active ports' devices (-1: not known), at each look that finds
    // some and before a connection uses one. May be null.
    std::function<void(const std::vector<int>& nodes)> on_nodes = nullptr;
  };
  // An attempt to connect or to accept that is under way: keeps itself alive here.
  class Attempt {
   public:
    virtual ~Attempt() = default;
    virtual void Cancel() = 0;
    // The turn of an attempt has come (TakeTurn).
    virtual void OnTurn() {}
  };

  explicit RdmaHost(Options options);
  RdmaHost(const RdmaHost&) = delete;
  RdmaHost& operator=(const RdmaHost&) = delete;
  // After Quiet.
  ~RdmaHost();

  // Loads the library and looks for devices, if that was not done or is long ago. An error
  // is a reason (why_not_rdma.h), and is tried again later.
  absl::Status Ready();

  // Whether Ready would say OK, as of the last look at the devices. Any thread: the control
  // loop may be busy with registrations and queue pairs for longer than a peer waits.
  bool usable() const { return usable_; }

  // Of what connections may use here, as of each look at the devices.
  Arrivals& arrivals() { return arrivals_; }

  // --- After Ready has been OK once.

  const RdmaParts& parts() const { return *parts_; }
  rdma_event_channel* channel() const { return cm_->channel(); }
  const HostView& view() const { return options_.view; }
  // What is created with the device of an id (cm_id->verbs).
  absl::StatusOr<DeviceUse*> UseOf(ibv_context* context);
  // Why new connections may not use it, as of the last look; OK: they may.
  absl::Status WhyNot(ibv_context* context) const { return devices_->WhyNot(context); }
  // Whether the last look saw it: else it is gone, or the device has another context now.
  bool Sees(ibv_context* context) const { return devices_->Sees(context); }
  // For set-up without rdma_cm (DeviceSet::Ports), as of the last look.
  std::vector<LocalPort> Ports() const { return devices_->Ports(); }
  // Those that are active, of devices that may be used, as of the last look and until the next.
  std::vector<DeviceSet::ActivePort> ActivePorts() const { return devices_->ActivePorts(); }
  // Who is about to make a queue pair holds its port until then.
  PortCounts& port_counts() { return port_counts_; }
  const PortCounts& port_counts() const { return port_counts_; }
  // Ways to peers, for the next choice.
  PastFailures& past_failures() { return past_failures_; }
  int NodeOf(const EventLoop& loop) const { return options_.node_of ? options_.node_of(loop) : -1; }
  // Another one each time.
  uint64_t NextSeed() { return seed_++; }
  // rdma_cm said of an id of this device that the device goes away.
  void OnRemoval(ibv_context* context);
  // Attempts that this end did not begin are limited; false: too many.
  bool Keep(const std::shared_ptr<Attempt>& attempt, bool incoming);
  // So many dials are under way at once, in the order in which they came: what they ask of the
  // kernel and of peers takes turns with what all others do on this loop. The attempt is
  // kept. True: it may go on; else OnTurn follows, unless it is dropped before.
  bool TakeTurn(Attempt& attempt);
  void Drop(Attempt& attempt);
  // Where a queue pair is set up over TCP, the kernel may look for the peer's GID for as long as a
  // second, with this loop held. After it has done so in vain no peer is accepted in this way for
  // kAcceptPause times as long: others have nearly all of the control loop's time whatever peers
  // say.
  void LookedInVain(Duration time);
  // kResourceExhausted while that lasts.
  absl::Status MayAccept() const;

  // --- What there is, for /status.

  RdmaStatus Status() const;

  // --- The end.

  // Begins to take everything down. Again and again, with turns of all loops between, until
  // it is true: nothing is left.
  bool TakeDown();
  // The data loops whose turns it takes.
  std::vector<EventLoop*> Loops() const;

 private:
  static constexpr Duration kRefreshEvery = std::chrono::seconds(3);
  // What failed to load is tried again after so many times as long as that took, which is
  // milliseconds: then others have nearly all of the control loop's time.
  static constexpr int kLoadPause = 20;
  static constexpr int kAcceptPause = 20;
  // Less is what a refusal takes.
  static constexpr Duration kSlowAccept = std::chrono::milliseconds(100);
  // The kernel's removal of a device waits until this process has noticed it: below a second.
  static constexpr Duration kWatchEvery = std::chrono::milliseconds(250);
  static constexpr Duration kGrowEvery = std::chrono::milliseconds(100);
  // The kernel says that a device goes away before librdmacm sees it gone, and shows one that has
  // come before it has addresses: looked at each kGrowEvery, so often.
  static constexpr int kLooksAfterChange = 10;
  static constexpr size_t kMaxIncoming = 256;
  static constexpr size_t kMaxConnecting = 64;
  // Names of devices that are remembered: enough for hosts, a limit for tests that make more.
  static constexpr size_t kMaxPast = 64;

  absl::Status LoadAtPace();
  absl::Status Load();
  absl::Status Look();
  void OnTime();
  // Whether devices came or went; then they are looked at several times.
  bool Watch();
  void StartTimer();
  void NextTurns();
  void Remember(const DeviceUse& use);

  const Options options_;
  std::optional<VerbsApi> api_;
  std::optional<RdmaParts> parts_;
  absl::Status load_error_;   // why neither library nor rdma_cm are there, as of the last Load
  TimePoint accept_again_{};  // over TCP; not before
  TimePoint load_again_{};    // not before, if it failed
  std::unique_ptr<CmSource> cm_;
  DeviceWatch watch_;
  std::unique_ptr<DeviceSet> devices_;
  Arrivals arrivals_;
  PortCounts port_counts_;
  PastFailures past_failures_;
  uint64_t seed_;
  absl::flat_hash_map<ibv_context*, std::unique_ptr<DeviceUse>> uses_;
  absl::flat_hash_map<Attempt*, std::shared_ptr<Attempt>> attempts_;
  absl::flat_hash_set<Attempt*> incoming_;
  absl::flat_hash_set<Attempt*> connecting_;
  std::deque<Attempt*> line_;  // dials that wait for their turn
  bool turning_ = false;       // NextTurns is on the stack
  // Of uses that ended, by the name of the device.
  std::map<std::string, RdmaDeviceStatus> past_;
  std::optional<TimePoint> looked_;  // for devices
  std::atomic<bool> usable_{false};
  int looks_due_ = 0;
  bool attached_ = false;  // the registrar
  bool ending_ = false;
  Timer timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_HOST_RDMA_HOST_H_
