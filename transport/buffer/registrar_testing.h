// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_REGISTRAR_TESTING_H_
#define FARCALL_TRANSPORT_BUFFER_REGISTRAR_TESTING_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/buffer/memory_registrar.h"

namespace farcall {

struct RegionKeys {
  std::span<std::byte> region;
  int node = -1;
};

// Registers nothing. One thread at a time.
class FakeRegistrar final : public MemoryRegistrar {
 public:
  ~FakeRegistrar() override { Check(keys_.empty(), "every region is unregistered"); }

  const RegionKeys* OnMap(std::span<std::byte> region, int node) override {
    auto keys = std::make_unique<RegionKeys>(RegionKeys{region, node});
    const RegionKeys* const key = keys.get();
    keys_[key] = std::move(keys);
    return key;
  }
  void OnUnmap(const RegionKeys* keys) override {
    Check(keys_.erase(keys) == 1, "only what is registered is unregistered");
  }

  // What is unregistered waits here if `hold` is set, until Drop.
  const RegionKeys* OnMapUser(std::span<std::byte> memory) override {
    return keys_.size() < most ? OnMap(memory, -1) : nullptr;
  }
  void OnUnmapUser(const RegionKeys* keys, absl::AnyInvocable<void()> done) override {
    OnUnmap(keys);
    if (hold) return held_.push_back(std::move(done));
    if (done) done();
  }
  absl::Status UserStatus(const RegionKeys*) const override { return status; }
  void Drop() {
    for (auto& done : std::exchange(held_, {})) {
      if (done) done();
    }
  }

  size_t most = 100;
  bool hold = false;
  absl::Status status;

  size_t regions() const { return keys_.size(); }

 private:
  std::map<const RegionKeys*, std::unique_ptr<RegionKeys>> keys_;
  std::vector<absl::AnyInvocable<void()>> held_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_REGISTRAR_TESTING_H_
