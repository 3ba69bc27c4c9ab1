// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_VERBS_LOAD_H_
#define FARCALL_TRANSPORT_RDMA_VERBS_LOAD_H_

#include "absl/status/statusor.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// The names that dlopen(3) is given. Major versions, so what they are asked for stays.
struct VerbsLibraries {
  const char* ibverbs = "libibverbs.so.1";
  const char* rdmacm = "librdmacm.so.1";
};

// The table of the libraries of this host, loaded with dlopen(3) under their versioned
// names; they stay loaded. Milliseconds, not on a loop. Any thread. The error is
// NotRdma(kNoLibrary) and names the library or the function that is missing.
absl::StatusOr<VerbsApi> LoadVerbsApi(const VerbsLibraries& libraries = {});

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_VERBS_LOAD_H_
