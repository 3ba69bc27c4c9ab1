// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_COLLECT_H_
#define FARCALL_TOOLS_DOCTOR_COLLECT_H_

#include "absl/status/statusor.h"
#include "tools/doctor/diagnose.h"
#include "tools/doctor/peer/ways.h"
#include "transport/base/time.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::doctor {

// Everything that this host tells: `seconds` between two looks at the counters, and pings over each
// device that may be used meanwhile. `api`: what LoadVerbsApi gave. While the drivers answer,
// `progress` is called at least each minute, with the same text again where a step takes long.
Facts Collect(const absl::StatusOr<VerbsApi>& api, double seconds, const Progress& progress);

// The interfaces whose queues RDMA's packets wait in.
std::vector<std::string> InterfacesOf(const node::Inventory& inventory,
                                      const std::vector<OwnAddress>& own);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_COLLECT_H_
