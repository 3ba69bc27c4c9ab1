// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_HOST_ARRIVALS_H_
#define FARCALL_TRANSPORT_RDMA_HOST_ARRIVALS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "transport/loop/event_loop.h"
#include "transport/upgrade.h"

namespace farcall {

// What connections may use on this host, by name, and who is notified when some of it comes: a
// device, a port, an address. With the control loop held.
class Arrivals {
 public:
  struct Waiter {
    EventLoop& loop;
    UpgradeTransport::OnCome come;  // with the loop held; null: withdrawn
  };

  void Add(std::shared_ptr<Waiter> waiter) { waiters_.insert(std::move(waiter)); }
  void Remove(const std::shared_ptr<Waiter>& waiter) { waiters_.erase(waiter); }
  bool awaited() const { return !waiters_.empty(); }

  // That is all there is now. Each begins with the name of its device and a space.
  void See(std::set<std::string> usable);
  // Something became of the device: what it still has, or has again, at the next look has come.
  void Forget(const std::string& device);
  // Times that something came.
  uint64_t count() const { return count_; }

 private:
  std::set<std::string> usable_;
  absl::flat_hash_set<std::shared_ptr<Waiter>> waiters_;
  uint64_t count_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_HOST_ARRIVALS_H_
