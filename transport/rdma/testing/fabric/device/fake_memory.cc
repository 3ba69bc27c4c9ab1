// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/device/fake_memory.h"

#include <string.h>
#include <xxhash.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace farcall {

FakePd::FakePd(FakeContext& fake_context) : ibv_pd{}, owner(fake_context) {
  context = &fake_context;
  ++owner.objects;
}

FakeMr::FakeMr(FakePd& fake_pd, void* address, size_t bytes, unsigned int flags, uint32_t key)
    : ibv_mr{}, domain(fake_pd), access_flags(flags) {
  context = fake_pd.context;
  pd = &fake_pd;
  addr = address;
  length = bytes;
  lkey = rkey = key;
  ++domain.users;
}

FakePd& FakeMemory::AddDomain(FakeContext& context) {
  return *domains_.emplace_back(std::make_unique<FakePd>(context));
}

FakeMr& FakeMemory::Register(FakePd& domain, void* address, size_t bytes, unsigned int flags,
                             uint32_t tag) {
  const size_t index = regions_.size();
  const uint32_t key = index == 0 ? 0 : static_cast<uint32_t>(index << 8 | (tag & 0xff));
  return *regions_.emplace_back(std::make_unique<FakeMr>(domain, address, bytes, flags, key));
}

const char* FakeMemory::WhyNot(const FakePd& domain, const ibv_sge* ranges, int count,
                               bool write) const {
  for (int i = 0; i < count; ++i) {
    const ibv_sge& range = ranges[i];
    // Devices take it for 2 GiB.
    if (range.length == 0) return "a range of no bytes";
    if (range.lkey >> 8 >= regions_.size()) return "a key that no region has";
    const FakeMr& region = *regions_[range.lkey >> 8];
    if (region.lkey != range.lkey) return "a key that no region has";
    if (region.destroyed) return "a key of a region that was deregistered";
    if (&region.domain != &domain) return "a key of another device or protection domain";
    const uint64_t begin = reinterpret_cast<uint64_t>(region.addr);
    if (range.addr < begin || range.length > region.length ||
        range.addr - begin > region.length - range.length) {
      return "a range beyond the region of its key";
    }
    if (write && (region.access_flags & IBV_ACCESS_LOCAL_WRITE) == 0) {
      return "a receive in a region without IBV_ACCESS_LOCAL_WRITE";
    }
  }
  return nullptr;
}

void FakeMemory::AddLeaks(std::vector<std::string>& leaks) const {
  for (const auto& window : windows_) {
    if (!window->destroyed) {
      leaks.push_back(absl::StrCat("memory window on ", window->domain.owner.owner.options.name));
    }
  }
  for (const auto& region : regions_) {
    if (!region->destroyed) {
      leaks.push_back(absl::StrCat("region of ", region->length, " bytes on ",
                                   region->domain.owner.owner.options.name));
    }
  }
  for (const auto& domain : domains_) {
    if (!domain->destroyed) {
      leaks.push_back(absl::StrCat("protection domain on ", domain->owner.owner.options.name));
    }
  }
}

bool Uses(const FakeMr& region, const ibv_sge* ranges, int count) {
  for (int i = 0; i < count; ++i) {
    if (ranges[i].lkey == region.lkey) return true;
  }
  return false;
}

namespace {

// The hash is a library's, into which sanitizers do not see; they do into the copy.
uint64_t Hash(const char* at, size_t left, uint64_t state) {
  char copy[4096];
  while (left > 0) {
    const size_t part = std::min(left, sizeof(copy));
    memcpy(copy, at, part);
    state = XXH3_64bits_withSeed(copy, part, state);
    at += part;
    left -= part;
  }
  return state;
}

}  // namespace

uint64_t Fingerprint(const ibv_sge* ranges, int count) {
  uint64_t state = 0;
  for (int i = 0; i < count; ++i) state = Hash(MemoryAt(ranges[i].addr), ranges[i].length, state);
  return state;
}

uint64_t FingerprintOfEnds(const ibv_sge* ranges, int count) {
  uint64_t state = 0;
  for (int i = 0; i < count; ++i) {
    const char* const at = MemoryAt(ranges[i].addr);
    const size_t bytes = ranges[i].length;
    const size_t first = std::min<size_t>(bytes, 1024);
    const size_t last = std::min<size_t>(bytes - first, 64);
    state = Hash(at, first, state);
    state = Hash(at + bytes - last, last, state);
  }
  return state;
}

}  // namespace farcall
