// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_NODES_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_NODES_H_

#include <functional>
#include <memory>
#include <vector>

#include "transport/loop/event_loop.h"

namespace farcall {

// Tells the NUMA node of the processors that drive a loop: loop i runs on cpus[i % size()], or, if
// there are none, wherever this thread may run. -1: of several nodes, or it cannot be read.
std::function<int(const EventLoop&)> NodesOfLoops(
    const std::vector<std::unique_ptr<EventLoop>>& loops, const std::vector<int>& cpus);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_NODES_H_
