// SPDX-License-Identifier: Apache-2.0
//
// The flags that all benchmarks share (Abseil's: `--in_flight 64` or `--in_flight=64`).
// Link it into a main only; a main adds its own flags beside them.

#ifndef FARCALL_BENCHMARKS_COMMON_LOAD_FLAGS_H_
#define FARCALL_BENCHMARKS_COMMON_LOAD_FLAGS_H_

#include "benchmarks/common/load_options.h"

namespace farcall::bench {

// After absl::ParseCommandLine. Not validated yet.
LoadOptions LoadOptionsFromFlags();
ServerOptions ServerOptionsFromFlags();

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_LOAD_FLAGS_H_
