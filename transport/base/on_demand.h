// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_ON_DEMAND_H_
#define FARCALL_TRANSPORT_BASE_ON_DEMAND_H_

#include <cstddef>
#include <new>

namespace farcall {

// A T that is made, in place, when it is first asked for. Where it never is, it costs one flag,
// which stands before the memory, other than that of std::optional: put this behind the members
// that are always used, and the flag lies in their cache line. One thread at a time.
template <typename T>
class OnDemand {
 public:
  OnDemand() {}  // leaves the memory as it is
  OnDemand(const OnDemand&) = delete;
  OnDemand& operator=(const OnDemand&) = delete;
  ~OnDemand() { Clear(); }

  bool made() const { return made_; }
  T& Get() {
    if (!made_) {
      ::new (static_cast<void*>(memory_)) T();
      made_ = true;
    }
    return *object();
  }
  // Null: it was never asked for, since the last Clear.
  const T* IfMade() const { return made_ ? object() : nullptr; }
  T* IfMade() { return made_ ? object() : nullptr; }
  void Clear() {
    if (!made_) return;
    made_ = false;
    object()->~T();
  }

 private:
  T* object() { return std::launder(reinterpret_cast<T*>(memory_)); }
  const T* object() const { return std::launder(reinterpret_cast<const T*>(memory_)); }

  bool made_ = false;
  alignas(T) std::byte memory_[sizeof(T)];
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_ON_DEMAND_H_
