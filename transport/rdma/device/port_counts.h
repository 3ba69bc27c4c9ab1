// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_PORT_COUNTS_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_PORT_COUNTS_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <utility>

namespace farcall {

// How many connections use each port of this host's devices, or are about to. With the control loop
// held.
class PortCounts {
 public:
  using Port = std::pair<ibv_context*, int>;  // from 1

  void Add(Port port) { ++counts_[port]; }
  // Once for each Add.
  void Remove(Port port) {
    const auto found = counts_.find(port);
    if (--found->second == 0) counts_.erase(found);
  }
  uint32_t Of(Port port) const {
    const auto found = counts_.find(port);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::map<Port, uint32_t> counts_;  // none of 0
};

// Counts one connection until it is released or dies. Neither is after the end of the counts.
class PortHold {
 public:
  PortHold() = default;
  PortHold(PortCounts& counts, PortCounts::Port port) : counts_(&counts), port_(port) {
    counts.Add(port);
  }
  PortHold(PortHold&& other) noexcept { *this = std::move(other); }
  PortHold& operator=(PortHold&& other) noexcept {
    std::swap(counts_, other.counts_);
    std::swap(port_, other.port_);
    return *this;
  }
  ~PortHold() { Release(); }

  void Release() {
    if (counts_ != nullptr) std::exchange(counts_, nullptr)->Remove(port_);
  }

 private:
  PortCounts* counts_ = nullptr;
  PortCounts::Port port_{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_PORT_COUNTS_H_
