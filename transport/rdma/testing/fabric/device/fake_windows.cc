// SPDX-License-Identifier: Apache-2.0
//
// Memory windows: ibv_bind_mw(3), and type 2B in the InfiniBand specification, 10.6.7.2.

#include <errno.h>

#include "absl/strings/str_cat.h"
#include "transport/rdma/testing/fabric/device/fake_memory.h"

namespace farcall {

FakeMw::FakeMw(FakePd& fake_pd, uint32_t key) : ibv_mw{}, domain(fake_pd), bound_key(key) {
  context = fake_pd.context;
  pd = &fake_pd;
  rkey = key;
  type = IBV_MW_TYPE_2;
  ++domain.users;
}

FakeMw& FakeMemory::AddWindow(FakePd& domain) {
  const auto key = kWindowKey | static_cast<uint32_t>(windows_.size() << 8);
  return *windows_.emplace_back(std::make_unique<FakeMw>(domain, key));
}

FakeMw* FakeMemory::WindowOf(uint32_t key) const {
  const size_t index = (key & ~kWindowKey) >> 8;
  if ((key & kWindowKey) == 0 || index >= windows_.size()) return nullptr;
  FakeMw& window = *windows_[index];
  return window.destroyed || window.bound_key != key ? nullptr : &window;
}

const char* FakeMemory::Bind(const ibv_qp& qp, const FakePd& domain, const FakeBind& bind) {
  FakeMw& window = *bind.window;
  if (window.destroyed) return "a window that was deallocated";
  if (window.bound()) return "a window that is bound";
  if (&window.domain != &domain) return "a window of another protection domain";
  // What the driver rxe compares.
  if (bind.old_key != window.bound_key) return "a window whose key is not the one that it had";
  if (bind.key >> 8 != window.bound_key >> 8) return "a key of another window";
  if (bind.key == window.bound_key) return "the key that the window had";
  const FakeMr* const region = bind.region;
  if (region == nullptr || region->destroyed || &region->domain != &domain) {
    return "a window on no region of its domain";
  }
  if ((region->access_flags & IBV_ACCESS_MW_BIND) == 0) {
    return "a window on a region without IBV_ACCESS_MW_BIND";
  }
  constexpr unsigned int kWrites = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if ((bind.access & kWrites) != 0 || (bind.access & IBV_ACCESS_REMOTE_READ) == 0) {
    return "a window that is not to be read, or not only";
  }
  const auto begin = reinterpret_cast<uint64_t>(region->addr);
  if (bind.length == 0 || bind.address < begin || bind.length > region->length ||
      bind.address - begin > region->length - bind.length) {
    return "a window beyond its region";
  }
  window.region = region;
  window.qp = &qp;
  window.address = bind.address;
  window.length = bind.length;
  window.bound_key = bind.key;
  return nullptr;
}

const char* FakeMemory::Invalidate(const ibv_qp& qp, uint32_t key) {
  FakeMw* const window = WindowOf(key);
  if (window == nullptr || !window->bound() || window->qp != &qp) {
    return "the key of no window that is bound for this queue pair";
  }
  window->region = nullptr;
  return nullptr;
}

const char* FakeMemory::WhyNotRemote(const ibv_qp& qp, uint32_t key, uint64_t address,
                                     uint64_t length) const {
  const FakeMw* const window = WindowOf(key);
  if (window == nullptr || !window->bound()) return "a key that no bound window has";
  if (window->qp != &qp) return "a window of another queue pair";
  if (length == 0 || address < window->address || length > window->length ||
      address - window->address > window->length - length) {
    return "bytes beyond the window";
  }
  return nullptr;
}

bool FakeMemory::HasWindowFor(const ibv_qp& qp) const {
  for (const auto& window : windows_) {
    if (!window->destroyed && window->bound() && window->qp == &qp) return true;
  }
  return false;
}

bool FakeMemory::HasWindowAt(uint64_t address) const {
  for (const auto& window : windows_) {
    if (window->destroyed || !window->bound() || window->qp == nullptr) continue;
    if (address >= window->address && address - window->address < window->length) return true;
  }
  return false;
}

bool FakeMemory::HasWindowOn(const FakeMr& region) const {
  for (const auto& window : windows_) {
    if (!window->destroyed && window->region == &region) return true;
  }
  return false;
}

}  // namespace farcall
