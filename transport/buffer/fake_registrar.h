// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_FAKE_REGISTRAR_H_
#define FARCALL_TRANSPORT_BUFFER_FAKE_REGISTRAR_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "transport/base/check.h"
#include "transport/buffer/memory_registrar.h"

namespace farcall {

struct RegionKeys {
  std::span<std::byte> region;
};

// Registers nothing, and refuses when it is told to. One thread at a time.
class FakeRegistrar final : public MemoryRegistrar {
 public:
  ~FakeRegistrar() override { Check(keys_.empty(), "every region is unregistered"); }

  absl::StatusOr<const RegionKeys*> Register(std::span<std::byte> region) override {
    if (refuse) return absl::ResourceExhaustedError("memlock would have to allow 42 bytes");
    auto keys = std::make_unique<RegionKeys>(RegionKeys{region});
    const RegionKeys* const key = keys.get();
    keys_[key] = std::move(keys);
    return key;
  }
  void Unregister(const RegionKeys* keys) override {
    Check(keys_.erase(keys) == 1, "only what is registered is unregistered");
  }

  size_t regions() const { return keys_.size(); }
  bool refuse = false;

 private:
  std::map<const RegionKeys*, std::unique_ptr<RegionKeys>> keys_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_FAKE_REGISTRAR_H_
