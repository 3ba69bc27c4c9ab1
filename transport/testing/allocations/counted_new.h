// SPDX-License-Identifier: Apache-2.0
//
// The global operator new of a program that calls this is replaced by one that counts: for a test
// that is a program of its own.

#ifndef FARCALL_TRANSPORT_TESTING_ALLOCATIONS_COUNTED_NEW_H_
#define FARCALL_TRANSPORT_TESTING_ALLOCATIONS_COUNTED_NEW_H_

#include <cstddef>

namespace farcall {

// How often this thread has called operator new so far.
size_t AllocationsSoFar();

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_ALLOCATIONS_COUNTED_NEW_H_
