// SPDX-License-Identifier: Apache-2.0
//
// What libibverbs and librdmacm say, by the table of transport/rdma/verbs.

#ifndef FARCALL_TOOLS_DOCTOR_LOOK_VERBS_H_
#define FARCALL_TOOLS_DOCTOR_LOOK_VERBS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/doctor/checks/facts.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::doctor {

// `loaded`: what LoadVerbsApi gave.
LibraryFacts ReadLibraries(const absl::Status& loaded);

// "": rdma_create_event_channel(3) works; else its error.
std::string ChannelError(const VerbsApi& api);

// Each device that libibverbs lists, opened, asked and closed. Some have their limit of inline
// sends, by a queue pair that is made and destroyed again: those with an address among `own`.
std::vector<VerbsDevice> ReadVerbsDevices(const VerbsApi& api, const std::vector<OwnAddress>& own);

// ibv_is_fork_initialized(3), after the library was loaded.
ForkSafety ReadForkSafety();

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_LOOK_VERBS_H_
