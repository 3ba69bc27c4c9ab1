// SPDX-License-Identifier: Apache-2.0
//
// What the servers of examples/kv and examples/attachment do alike: both keep much in memory, and
// answer from it within microseconds.

#ifndef FARCALL_EXAMPLES_COMMON_STORE_SERVER_H_
#define FARCALL_EXAMPLES_COMMON_STORE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "farcall/runtime.h"
#include "farcall/server.h"
#include "google/protobuf/service.h"

namespace example {

// A runtime whose blocks have room for `stored` bytes that are kept, which may pin twice as much;
// for as much again, since what is replaced stays as long as an answer refers to it; and for what
// is under way. `event_loops` 0:
// one for each core, at most 8. `read_at_least`: RdmaOptions.
absl::StatusOr<std::unique_ptr<farcall::Runtime>> StoreRuntime(int event_loops, size_t stored,
                                                               uint32_t read_at_least = 0);

// Serves until SIGTERM or Ctrl-C, with handlers that run on the loops. Prints "listening on
// ADDRESS" when clients may come.
absl::Status ServeStore(farcall::Runtime& runtime, google::protobuf::Service& service,
                        const std::string& listen, bool use_rdma,
                        const farcall::ServiceOptions& service_options = {});

}  // namespace example

#endif  // FARCALL_EXAMPLES_COMMON_STORE_SERVER_H_
