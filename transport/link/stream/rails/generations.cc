// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/generations.h"

#include <algorithm>
#include <utility>

#include "transport/base/check.h"

namespace farcall {

bool Generations::full() const {
  if (!several()) return live_.size() == kMax;
  return live_.size() + awaited_.size() >= rails_;
}

uint32_t Generations::Start() {
  Check(!full(), "few generations are alive at once");
  live_.push_back({
      .number = ++started_,
  });
  return started_;
}

Generations::Generation* Generations::Usable() {
  const auto newest =
      std::find_if(live_.rbegin(), live_.rend(), [](const Generation& one) { return one.ready; });
  return newest == live_.rend() ? nullptr : &*newest;
}

uint32_t Generations::Dying(uint32_t number) const {
  if (several()) return Find(number) == nullptr ? 0 : number;
  return live_.empty() || live_.front().number > number ? 0 : live_.front().number;
}

void Generations::Kill(uint32_t number) {
  Check(number <= started_, "only what was started dies");
  if (several()) {
    const Generation* const found = Find(number);
    if (found == nullptr) return;
    if (!found->resumed) awaited_.push_back(number);
    live_.erase(live_.begin() + (found - live_.data()));
    return;
  }
  dead_ = std::max(dead_, number);
  while (!live_.empty() && live_.front().number <= dead_) live_.erase(live_.begin());
}

bool Generations::Resume(uint32_t number) {
  if (number > started_) return false;
  if (!several()) return number > std::exchange(resumed_, std::max(resumed_, number));
  if (Generation* const found = Find(number)) return !std::exchange(found->resumed, true);
  return std::erase(awaited_, number) > 0;
}

}  // namespace farcall
