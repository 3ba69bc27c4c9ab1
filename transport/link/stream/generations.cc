// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/generations.h"

#include <algorithm>

#include "transport/base/check.h"

namespace farcall {

uint32_t Generations::Start() {
  Check(!full(), "few generations are alive at once");
  live_.push_back({.number = ++started_, .ready = false});
  return started_;
}

const Generations::Generation* Generations::Find(uint32_t number) const {
  for (const Generation& generation : live_) {
    if (generation.number == number) return &generation;
  }
  return nullptr;
}

Generations::Generation* Generations::Find(uint32_t number) {
  for (Generation& generation : live_) {
    if (generation.number == number) return &generation;
  }
  return nullptr;
}

Generations::Generation* Generations::Usable() {
  const auto newest =
      std::find_if(live_.rbegin(), live_.rend(), [](const Generation& one) { return one.ready; });
  return newest == live_.rend() ? nullptr : &*newest;
}

uint32_t Generations::Oldest(uint32_t number) const {
  return live_.empty() || live_.front().number > number ? 0 : live_.front().number;
}

void Generations::Kill(uint32_t number) {
  Check(number <= started_, "only what was started dies");
  dead_ = std::max(dead_, number);
  while (!live_.empty() && live_.front().number <= dead_) live_.erase(live_.begin());
}

}  // namespace farcall
