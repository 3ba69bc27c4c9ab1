// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_ECHO_BULK_LOAD_H_
#define FARCALL_BENCHMARKS_ECHO_BULK_LOAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_recorder.h"
#include "benchmarks/echo/echo_load.h"
#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"

namespace farcall::bench {

// Large echoes on one more connection, beside the load that is reported.
class BulkLoad {
 public:
  // As --bulk says; null: none. To the server of `others`, for as long.
  static absl::StatusOr<std::unique_ptr<BulkLoad>> StartFromFlags(const LoadOptions& others,
                                                                  Runtime& runtime,
                                                                  const LoadWindow& window);
  // MB/s that it echoed in the measured time.
  absl::StatusOr<double> WaitForLast();

 private:
  explicit BulkLoad(const LoadOptions& options) : options_(options) {}

  const LoadOptions options_;
  std::unique_ptr<Channel> channel_;
  Buffer attachment_;
  std::unique_ptr<EchoLoad> load_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_ECHO_BULK_LOAD_H_
