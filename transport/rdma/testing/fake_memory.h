// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FAKE_MEMORY_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FAKE_MEMORY_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/rdma/testing/fake_device.h"

namespace farcall {

struct FakePd : ibv_pd {
  explicit FakePd(FakeContext& fake_context);
  FakeContext& owner;
  int users = 0;  // regions, queue pairs, shared receive queues
  bool destroyed = false;
};

struct FakeMr : ibv_mr {
  FakeMr(FakePd& fake_pd, void* address, size_t bytes, unsigned int flags, uint32_t key);
  FakePd& domain;
  const unsigned int access_flags;
  bool destroyed = false;
};

// The regions of all devices. With the fabric's mutex held.
class FakeMemory {
 public:
  FakePd& AddDomain(FakeContext& context);
  FakeMr& Register(FakePd& domain, void* address, size_t bytes, unsigned int flags, uint32_t tag);
  // Why the device may not use these ranges; null: it may.
  const char* WhyNot(const FakePd& domain, const ibv_sge* ranges, int count, bool write) const;
  void AddLeaks(std::vector<std::string>& leaks) const;

 private:
  std::vector<std::unique_ptr<FakePd>> domains_;
  // A key is the index here, times 256, and a tag. The first region's is 0.
  std::vector<std::unique_ptr<FakeMr>> regions_;
};

// Whether one of the ranges lies in the region.
bool Uses(const FakeMr& region, const ibv_sge* ranges, int count);
// A number that changes when the bytes do.
uint64_t Fingerprint(const ibv_sge* ranges, int count);

inline char* MemoryAt(uint64_t address) { return reinterpret_cast<char*>(address); }

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FAKE_MEMORY_H_
