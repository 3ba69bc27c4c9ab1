// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_CLIENT_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_CLIENT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_report.h"

namespace farcall::bench {

// Puts the load on, and blocks until it is over. Polling "busy": --threads that spin, each
// over its share of the connections. Else a blocked thread for each connection. `bulk`: one more
// connection on the first thread, with a load that is not part of the report, but for its rate.
absl::StatusOr<LoadReport> RunRawLoad(const LoadOptions& options,
                                      const std::optional<LoadOptions>& bulk = std::nullopt);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_CLIENT_H_
