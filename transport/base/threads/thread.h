// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_THREAD_H_
#define FARCALL_TRANSPORT_BASE_THREADS_THREAD_H_

#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace farcall {

// A thread of the library: named for ps and gdb (at most 15 characters), with signals
// blocked, so that the program's handlers run on the program's threads. Not
// blocked are those that a thread brings upon itself (SIGSEGV and the like), whose
// handlers print crash reports, and SIGPROF, so that profilers see the thread.
// kResourceExhausted when the system gives no thread. It runs on the processors of the calling
// thread, or, where those are some of `cpus` (in their order), on all of `cpus`.
absl::StatusOr<std::thread> StartThread(const char* name, absl::AnyInvocable<void()> run,
                                        std::vector<int> cpus = {});

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_THREAD_H_
