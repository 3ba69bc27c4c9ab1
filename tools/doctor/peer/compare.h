// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_COMPARE_H_
#define FARCALL_TOOLS_DOCTOR_PEER_COMPARE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/doctor/peer/comparison.h"
#include "tools/doctor/peer/ways.h"
#include "transport/base/time.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::doctor {

// Measures against the doctor that serves at `server`, each number for `how_long`. `api`: null
// where the libraries do not load. kUnavailable: no doctor is reached there.
absl::StatusOr<Comparison> Compare(const std::string& server, const VerbsApi* api,
                                   Duration how_long, const Progress& progress);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_COMPARE_H_
