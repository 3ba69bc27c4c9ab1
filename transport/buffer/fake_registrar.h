// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_FAKE_REGISTRAR_H_
#define FARCALL_TRANSPORT_BUFFER_FAKE_REGISTRAR_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>

#include "transport/base/check.h"
#include "transport/buffer/memory_registrar.h"

namespace farcall {

struct RegionKeys {
  std::span<std::byte> region;
};

// Registers nothing. One thread at a time.
class FakeRegistrar final : public MemoryRegistrar {
 public:
  ~FakeRegistrar() override { Check(keys_.empty(), "every region is unregistered"); }

  const RegionKeys* OnMap(std::span<std::byte> region) override {
    auto keys = std::make_unique<RegionKeys>(RegionKeys{region});
    const RegionKeys* const key = keys.get();
    keys_[key] = std::move(keys);
    return key;
  }
  void OnUnmap(const RegionKeys* keys) override {
    Check(keys_.erase(keys) == 1, "only what is registered is unregistered");
  }

  size_t regions() const { return keys_.size(); }

 private:
  std::map<const RegionKeys*, std::unique_ptr<RegionKeys>> keys_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_FAKE_REGISTRAR_H_
