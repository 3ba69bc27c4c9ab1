// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/collect.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/look/host.h"
#include "tools/doctor/look/queues.h"
#include "tools/doctor/look/verbs.h"
#include "tools/doctor/loopbacks.h"
#include "tools/doctor/peer/caller.h"
#include "tools/doctor/peer/doctor_server.h"

namespace farcall::doctor {
namespace {

// Pings over one device.
constexpr std::chrono::milliseconds kLoopback{300};
// Within it, who watches hears of it again.
constexpr std::chrono::duration<double> kStep{5};

using Clock = std::chrono::steady_clock;

std::vector<LoopbackFacts> PingThose(const std::vector<std::string>& devices,
                                     const Progress& progress) {
  LoopbackPlan plan;
  plan.now = [] { return Clock::now(); };
  plan.tries = kTries;
  plan.may_pass = MayPass;
  plan.ping = [&progress](const std::string& device) {
    progress(absl::StrCat("pinging itself over ", device));
    return PingItself(device, kLoopback);
  };
  return PingEach(devices, plan);
}

void Watch(Clock::time_point begun, double seconds, const Progress& progress) {
  while (true) {
    const std::chrono::duration<double> left =
        std::chrono::duration<double>(seconds) - (Clock::now() - begun);
    if (left.count() <= 0) return;
    progress("watching the counters");
    std::this_thread::sleep_for(std::min(left, kStep));
  }
}

}  // namespace

std::vector<std::string> InterfacesOf(const node::Inventory& inventory,
                                      const std::vector<OwnAddress>& own) {
  std::vector<std::string> names;
  for (const QueueOf& queue : QueuesOf(inventory, std::nullopt, own, {})) {
    if (std::find(names.begin(), names.end(), queue.interface) == names.end()) {
      names.push_back(queue.interface);
    }
  }
  return names;
}

Facts Collect(const absl::StatusOr<VerbsApi>& api, double seconds, const Progress& progress) {
  Facts facts;
  progress("reading the node's files");
  facts.before = node::ReadInventory();
  facts.own = ReadOwnAddresses();
  facts.settings = ReadSettings();
  const std::vector<std::string> interfaces = InterfacesOf(facts.before, facts.own);
  progress("asking the drivers of network interfaces");
  facts.queues.dcb = ReadDcbs(interfaces);
  const auto queues = ReadCounters(interfaces);
  const Clock::time_point begun = Clock::now();
  facts.library = ReadLibraries(api.status());
  facts.files = ReadDeviceFiles();
  facts.memory = ReadMemoryFacts();
  facts.loops = DefaultLoops();
  facts.huge_pages = ReadHugePageFacts();
  if (api.ok()) {
    progress("asking libibverbs and librdmacm");
    facts.fork = ReadForkSafety();
    facts.files.channel_tried = true;
    facts.files.channel_error = ChannelError(*api);
    facts.devices = ReadVerbsDevices(*api, facts.own);
  }
  progress("asking the library");
  facts.verdict = AskLibrary();
  facts.now = facts.before;  // for whom to ping
  if (facts.verdict.reason == "in_use") facts.loopbacks = PingThose(UsableHere(facts), progress);
  if (!facts.before.devices().empty()) Watch(begun, seconds, progress);
  progress("reading the node's files again");
  facts.now = node::ReadInventory();
  facts.queues.moved = MovedOf(queues, ReadCounters(interfaces));
  facts.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  facts.queues.when = absl::StrFormat("in %.3g s", facts.seconds);
  return facts;
}

}  // namespace farcall::doctor
