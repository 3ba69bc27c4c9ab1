// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/loop_places.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace farcall {

absl::StatusOr<std::unique_ptr<LoopPlaces>> LoopPlaces::Create(
    const std::vector<std::unique_ptr<EventLoop>>& loops, const Options& options) {
  const std::vector<int>& allowed = options.host.allowed;
  for (const int cpu : options.cpus) {
    if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("cpu ", cpu, " is none that this process may run on (taskset -p $$)"));
  }
  return absl::WrapUnique(new LoopPlaces(loops, options));
}

LoopPlaces::LoopPlaces(const std::vector<std::unique_ptr<EventLoop>>& loops, const Options& options)
    : host_(options.host), may_move_(options.near_adapters && options.cpus.empty()) {
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::vector<int> cpus = options.cpus.empty()
                                      ? std::vector<int>()
                                      : std::vector<int>{options.cpus[i % options.cpus.size()]};
    loops_.push_back(loops[i].get());
    threads_.emplace_back().MoveTo(cpus);
    nodes_.push_back(NodeOfCpus(cpus.empty() ? host_.allowed : cpus, host_.nodes));
  }
  NotifyLoops();
}

// Where all are on one node, so is the memory that their threads touch first. With mutex_ held.
void LoopPlaces::NotifyLoops() {
  if (std::set<int>(nodes_.begin(), nodes_.end()).size() < 2) return;
  for (size_t i = 0; i < loops_.size(); ++i) loops_[i]->SetMemoryNode(nodes_[i]);
}

int LoopPlaces::NodeOf(const EventLoop& loop) const {
  const auto found = std::find(loops_.begin(), loops_.end(), &loop);
  if (found == loops_.end()) return -1;
  const std::lock_guard<std::mutex> lock(mutex_);
  return nodes_[static_cast<size_t>(found - loops_.begin())];
}

std::string LoopPlaces::OnAdapters(const std::vector<int>& nodes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!std::exchange(may_move_, false)) return "";
  const std::vector<LoopPlace> places = PlacesNear(nodes, host_, loops_.size());
  for (size_t i = 0; i < places.size(); ++i) {
    threads_[i].MoveTo(places[i].cpus);
    nodes_[i] = places[i].node;
  }
  NotifyLoops();
  if (!places.empty()) registration_.MoveTo(CpusOf(places));
  return moved_ = Describe(places);
}

std::string LoopPlaces::moved() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return moved_;
}

}  // namespace farcall
