// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_CHUNK_POOL_H_
#define FARCALL_TRANSPORT_BASE_THREADS_CHUNK_POOL_H_

#include <cstddef>
#include <new>
#include <utility>

#include "transport/base/threads/spare_list.h"

namespace farcall {

// Memory for objects of one type that come and go all the time: what was freed is kept, up to
// kMax pieces, and used again. Any thread. Outlives its objects.
template <typename T>
class ChunkPool {
 public:
  static constexpr size_t kMax = 512;

  ChunkPool() = default;
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() {
    for (void* const chunk : free_.Close()) Free(chunk);
  }

  template <typename... Args>
  T* New(Args&&... args) {
    return new (Take()) T(std::forward<Args>(args)...);
  }
  void Delete(T* object) {
    object->~T();
    if (!free_.Give(object)) Free(object);
  }

 private:
  static void Free(void* chunk) { ::operator delete(chunk, std::align_val_t(alignof(T))); }
  void* Take() {
    if (void* const chunk = free_.Take()) return chunk;
    return ::operator new(sizeof(T), std::align_val_t(alignof(T)));
  }

  SpareList<void, kMax, 32> free_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_CHUNK_POOL_H_
