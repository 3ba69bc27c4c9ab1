// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_MEMORY_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_MEMORY_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/rdma/testing/fabric/device/fake_device.h"

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

// A memory window of type 2B: free, or bound to bytes of a region, for one queue pair.
struct FakeMw : ibv_mw {
  FakeMw(FakePd& fake_pd, uint32_t key);
  FakePd& domain;
  // While it is bound. The queue pair only to be compared: it may be destroyed.
  const FakeMr* region = nullptr;
  const ibv_qp* qp = nullptr;
  uint64_t address = 0;
  uint64_t length = 0;
  uint32_t bound_key = 0;  // the one that it had last, bound or not
  bool destroyed = false;

  bool bound() const { return region != nullptr; }
};

// What a work request says that binds one.
struct FakeBind {
  FakeMw* window = nullptr;
  const FakeMr* region = nullptr;
  uint32_t old_key = 0;
  uint32_t key = 0;
  uint64_t address = 0;
  uint64_t length = 0;
  unsigned int access = 0;
};

// The regions of all devices. With the fabric's mutex held.
class FakeMemory {
 public:
  FakePd& AddDomain(FakeContext& context);
  FakeMr& Register(FakePd& domain, void* address, size_t bytes, unsigned int flags, uint32_t tag);
  // Why the device may not use these ranges; null: it may.
  const char* WhyNot(const FakePd& domain, const ibv_sge* ranges, int count, bool write) const;
  FakeMw& AddWindow(FakePd& domain);
  // Why it cannot be bound so, by a work request of `qp`; null: it is.
  const char* Bind(const ibv_qp& qp, const FakePd& domain, const FakeBind& bind);
  // The same of its end, which is asked for by its key.
  const char* Invalidate(const ibv_qp& qp, uint32_t key);
  // Why the peer of `qp` may not read there; null: it may.
  const char* WhyNotRemote(const ibv_qp& qp, uint32_t key, uint64_t address, uint64_t length) const;
  bool HasWindowOn(const FakeMr& region) const;
  bool HasWindowAt(uint64_t address) const;
  bool HasWindowFor(const ibv_qp& qp) const;
  void AddLeaks(std::vector<std::string>& leaks) const;

 private:
  std::vector<std::unique_ptr<FakePd>> domains_;
  // A key is the index here, times 256, and a tag. The first region's is 0.
  std::vector<std::unique_ptr<FakeMr>> regions_;
  FakeMw* WindowOf(uint32_t key) const;
  // A key is kWindowKey, the index here times 256, and a tag that changes with each use.
  static constexpr uint32_t kWindowKey = 1u << 31;
  std::vector<std::unique_ptr<FakeMw>> windows_;
};

// Whether one of the ranges lies in the region.
bool Uses(const FakeMr& region, const ibv_sge* ranges, int count);
// A number that changes when the bytes do.
uint64_t Fingerprint(const ibv_sge* ranges, int count);
// The same of the first 1 KiB and the last 64 bytes of each range: enough for receives, whose
// memory is mostly large and never used, while who writes to a posted block begins at its start.
uint64_t FingerprintOfEnds(const ibv_sge* ranges, int count);

inline char* MemoryAt(uint64_t address) { return reinterpret_cast<char*>(address); }

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_MEMORY_H_
