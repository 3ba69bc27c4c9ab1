// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_COMPARE_H_
#define FARCALL_TOOLS_DOCTOR_PEER_COMPARE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/doctor/peer/comparison.h"
#include "tools/doctor/peer/doctor.pb.h"
#include "transport/base/time.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::doctor {

// Told what is done now, before it takes its time.
using Progress = std::function<void(absl::string_view)>;

// What a doctor told of itself, for a terminal: nothing in it but what can be printed.
GreetResponse Printable(const GreetResponse& told);

// Measures against the doctor that serves at `server`, each number for `how_long`. `api`: null
// where the libraries do not load. kUnavailable: no doctor is reached there.
absl::StatusOr<Comparison> Compare(const std::string& server, const VerbsApi* api,
                                   Duration how_long, const Progress& progress);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_COMPARE_H_
