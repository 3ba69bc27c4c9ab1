// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_API_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_API_H_

#include <errno.h>

#include <mutex>

#include "transport/rdma/testing/fabric/fake_world.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// The two halves of the table.
VerbsApi::Ibv FakeIbv();
VerbsApi::Rdma FakeRdmaCm();
// What the inline functions of <infiniband/verbs.h> call.
ibv_context_ops FakeDataPath();
// Parts of the first.
void FillDevices(VerbsApi::Ibv& ibv);
void FillQueues(VerbsApi::Ibv& ibv);
const char* FakeWcStatusStr(ibv_wc_status status);
const char* FakeEventTypeStr(ibv_event_type type);

// One call of a function of the table: the fabric's mutex, and what it has to fail
// with. errno is set at the end, since what runs under the mutex may change it.
class FakeCall {
 public:
  enum class Kind { kCounted, kGivesBack };

  explicit FakeCall(const char* name, Kind kind = Kind::kCounted)
      : world(FakeWorld::Current()), lock(world.mutex) {
    planned = kind == Kind::kCounted ? world.plan.Enter(name) : world.plan.EnterUncounted(name);
  }

  // For functions that give a pointer, those that give -1, and those that give an errno.
  std::nullptr_t Null(int error) {
    errno = error;
    return nullptr;
  }
  int MinusOne(int error) {
    if (error == 0) return 0;
    errno = error;
    return -1;
  }

  FakeWorld& world;
  std::unique_lock<std::mutex> lock;
  // The errno to fail with; 0: go on.
  int planned = 0;
};

inline constexpr auto kGivesBack = FakeCall::Kind::kGivesBack;

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_API_H_
