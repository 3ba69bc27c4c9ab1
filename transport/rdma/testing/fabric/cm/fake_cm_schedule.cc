// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "transport/rdma/testing/fabric/cm/fake_cm.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"

namespace farcall {

void FakeCmSchedule::Add(const FakeId& id, uint64_t steps, std::function<void()> run) {
  actions_.push_back({host_.now + steps + delay, &id, std::move(run)});
}

std::vector<size_t> FakeCmSchedule::Ready() const {
  std::vector<size_t> ready;
  for (size_t i = 0; i < actions_.size(); ++i) {
    if (actions_[i].due > host_.now) continue;
    const bool first =
        std::none_of(actions_.begin(), actions_.begin() + static_cast<ptrdiff_t>(i),
                     [&](const Action& before) { return before.id == actions_[i].id; });
    if (first) ready.push_back(i);
  }
  return ready;
}

void FakeCmSchedule::Run(size_t index) {
  const std::function<void()> run = std::move(actions_[index].run);
  actions_.erase(actions_.begin() + static_cast<ptrdiff_t>(index));
  run();
}

}  // namespace farcall
