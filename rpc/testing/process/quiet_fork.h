// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_PROCESS_QUIET_FORK_H_
#define FARCALL_RPC_TESTING_PROCESS_QUIET_FORK_H_

#include <sys/types.h>

namespace farcall {

// fork(2), from any thread. Under AddressSanitizer it first waits until every other thread of this
// process sleeps: the sanitizer of gcc 12 does not take the locks of its allocator around a fork,
// as the C library does, and a child of a thread that another one has just made to wait there
// hangs at its first large allocation. It fails the program if they do not come to rest within
// kTestTimeout, so a program under load cannot use it there.
pid_t QuietFork();

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_PROCESS_QUIET_FORK_H_
