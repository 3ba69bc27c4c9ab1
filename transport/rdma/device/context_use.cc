// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/context_use.h"

#include <mutex>

#include "absl/container/flat_hash_map.h"

namespace farcall {
namespace {

// As librdmacm's own list of devices: one for the process, and never destroyed, since a Runtime
// may end after static objects.
struct Uses {
  std::mutex mutex;
  absl::flat_hash_map<ibv_context*, int> counts;  // guarded by mutex
};

Uses& All() {
  static Uses* const uses = new Uses;
  return *uses;
}

}  // namespace

ContextUse::ContextUse(ibv_context* context) : context_(context) {
  Uses& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  ++all.counts[context];
}

ContextUse::~ContextUse() {
  Uses& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.counts.find(context_);
  if (--found->second == 0) all.counts.erase(found);
}

bool ContextUse::Release(const VerbsApi& api, ibv_context* context) {
  Uses& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return !all.counts.contains(context) && api.rdma.release_context(context) == 0;
}

}  // namespace farcall
