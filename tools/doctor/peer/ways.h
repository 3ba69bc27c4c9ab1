// SPDX-License-Identifier: Apache-2.0
//
// The ways to another doctor, each measured by itself: a row of the table.

#ifndef FARCALL_TOOLS_DOCTOR_PEER_WAYS_H_
#define FARCALL_TOOLS_DOCTOR_PEER_WAYS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/doctor/peer/caller.h"
#include "tools/doctor/peer/comparison.h"
#include "tools/doctor/peer/doctor.pb.h"
#include "transport/base/time.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::doctor {

// Told what is done now, before it takes its time.
using Progress = std::function<void(absl::string_view)>;

// What a doctor told of itself, for a terminal: nothing in it but what can be printed.
GreetResponse Printable(const GreetResponse& told);

// A doctor that was reached over TCP.
struct Greeted {
  std::unique_ptr<Caller> caller;
  GreetResponse peer;  // printable
};
// kFailedPrecondition: it is of another version.
absl::StatusOr<Greeted> Greet(Runtime& runtime, const std::string& server);

// A device of this host that is to be used, as Introduction::networks has it; empty: as chosen.
using Rail = Network;

ComparisonRow MeasureRaw(const VerbsApi* api, Caller& caller, const GreetResponse& peer,
                         const Rail& rail, Duration how_long, const Progress& progress);

struct RdmaRow {
  ComparisonRow row;
  std::string reason;  // why it is not RDMA; "in_use": it is
  std::string detail;
};
RdmaRow MeasureRdma(const std::string& server, const Rail& rail, Duration how_long,
                    const Progress& progress);

ComparisonRow MeasureTcp(Caller& caller, Duration how_long, const Progress& progress);

// Measures against the doctor that serves at `server`, each number for `how_long`. `api`: null
// where the libraries do not load. kUnavailable: no doctor is reached there.
absl::StatusOr<Comparison> Compare(const std::string& server, const VerbsApi* api,
                                   Duration how_long, const Progress& progress);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_WAYS_H_
