// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_GRPC_ECHO_CLIENT_H_
#define FARCALL_BENCHMARKS_GRPC_ECHO_CLIENT_H_

#include "absl/status/statusor.h"
#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_report.h"

namespace farcall::bench {

// Puts the load on, and blocks until it is over. --threads and --polling do not count:
// gRPC has neither knob.
absl::StatusOr<LoadReport> RunGrpcLoad(const LoadOptions& options);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_GRPC_ECHO_CLIENT_H_
