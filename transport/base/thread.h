// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREAD_H_
#define FARCALL_TRANSPORT_BASE_THREAD_H_

#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace farcall {

// A thread of the library: named for ps and gdb (at most 15 characters), with signals
// blocked, so that the program's handlers run on the program's threads. Not
// blocked are those that a thread brings upon itself (SIGSEGV and the like), whose
// handlers print crash reports, and SIGPROF, so that profilers see the thread.
// kResourceExhausted when the system gives no thread.
absl::StatusOr<std::thread> StartThread(const char* name, absl::AnyInvocable<void()> run);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREAD_H_
