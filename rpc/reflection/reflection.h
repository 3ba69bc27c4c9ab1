// SPDX-License-Identifier: Apache-2.0
//
// The service farcall.Reflection (reflection.proto), by which tools call a server whose .proto
// files they do not have.

#ifndef FARCALL_RPC_REFLECTION_REFLECTION_H_
#define FARCALL_RPC_REFLECTION_REFLECTION_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "google/protobuf/service.h"

namespace farcall {

// Bytes of the files in one answer. A service whose files are larger can be called, but
// GetFiles fails with E2BIG.
inline constexpr size_t kReflectionMaxBytes = size_t{4} << 20;

// Describes `services`, which outlive it, and itself. Its handlers take microseconds and do
// not block; any thread.
//
//   auto reflection = MakeReflection({echo.GetDescriptor(), store.GetDescriptor()});
//   server.AddService(reflection.release(), SERVER_OWNS_SERVICE);
std::unique_ptr<google::protobuf::Service> MakeReflection(
    std::vector<const google::protobuf::ServiceDescriptor*> services,
    size_t max_bytes = kReflectionMaxBytes);

}  // namespace farcall

#endif  // FARCALL_RPC_REFLECTION_REFLECTION_H_
