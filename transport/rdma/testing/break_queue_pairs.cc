// SPDX-License-Identifier: Apache-2.0
//
// The functions of libibverbs by which librdmacm makes and ends queue pairs stand in this
// program too, where the loader finds them first, ld.so(8): so each queue pair is known here.

#include "transport/rdma/testing/break_queue_pairs.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

struct Known {
  std::mutex mutex;
  absl::flat_hash_set<ibv_qp*> pairs;  // guarded by mutex
};

Known& All() {
  static Known* const known = new Known;
  return *known;
}

// Of the library that librdmacm has loaded.
template <typename Function>
Function* Real(Function* /*type*/, const char* name) {
  void* const library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  Check(library != nullptr, "who makes queue pairs has libibverbs");
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

int BreakQueuePairs() {
  Known& known = All();
  const std::lock_guard<std::mutex> lock(known.mutex);
  static auto* const modify = Real<decltype(ibv_modify_qp)>(nullptr, "ibv_modify_qp");
  int broken = 0;
  for (ibv_qp* const pair : known.pairs) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    if (modify(pair, &attr, IBV_QP_STATE) == 0) ++broken;
  }
  return broken;
}

}  // namespace farcall

extern "C" ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  using farcall::All;
  static auto* const create = farcall::Real<decltype(ibv_create_qp)>(nullptr, "ibv_create_qp");
  ibv_qp* const pair = create(pd, attr);
  if (pair == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().pairs.insert(pair);
  return pair;
}

extern "C" int ibv_destroy_qp(ibv_qp* pair) {
  using farcall::All;
  static auto* const destroy = farcall::Real<decltype(ibv_destroy_qp)>(nullptr, "ibv_destroy_qp");
  // Not while it is being put into error.
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().pairs.erase(pair);
  return destroy(pair);
}
