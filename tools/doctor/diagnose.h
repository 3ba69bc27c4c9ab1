// SPDX-License-Identifier: Apache-2.0
//
// All facts of a host, and what all checks together say of them.

#ifndef FARCALL_TOOLS_DOCTOR_DIAGNOSE_H_
#define FARCALL_TOOLS_DOCTOR_DIAGNOSE_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/checks/facts.h"
#include "tools/doctor/checks/finding.h"
#include "tools/doctor/checks/gids.h"
#include "tools/doctor/peer/comparison.h"
#include "tools/node/inventory.h"

namespace farcall::doctor {

struct Facts {
  node::Inventory before;  // counters are compared with those of `now`
  node::Inventory now;
  double seconds = 0;  // between the two
  LibraryFacts library;
  DeviceFileFacts files;
  MemoryFacts memory;
  int loops = 1;  // event loops that the library makes by default
  HugePageFacts huge_pages;
  ForkSafety fork = ForkSafety::kUnknown;
  std::vector<VerbsDevice> devices;  // that libibverbs lists
  std::vector<OwnAddress> own;
  SettingsFacts settings;
  LibraryVerdict verdict;
  std::vector<LoopbackFacts> loopbacks;
  Queues queues;
};

struct Report {
  ExitCode code = kReady;
  std::string summary;            // one line
  std::vector<std::string> next;  // what to do, first things first; empty: nothing
  LibraryVerdict verdict;
  Findings findings;
  std::vector<GidRow> gids;
  std::optional<Comparison> peer;
};

// Devices that this process can use as far as files tell: a port is active, a GID is an address
// here, and its file is here.
std::vector<std::string> UsableHere(const Facts& facts);

Report Diagnose(const Facts& facts);
// Adds findings, and what they change of code, summary and next.
void AddFindings(const Findings& more, Report& report);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_DIAGNOSE_H_
