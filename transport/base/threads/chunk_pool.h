// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_CHUNK_POOL_H_
#define FARCALL_TRANSPORT_BASE_THREADS_CHUNK_POOL_H_

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "transport/base/threads/spare_list.h"

namespace farcall {

// Memory for objects of one type that come and go all the time: what was freed is kept, up to
// kMax pieces, and used again. No piece shares a cache line with other memory, which another thread
// may write. Any thread. Outlives its objects.
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
  static constexpr size_t kAlign = std::max<size_t>(64, alignof(T));  // bytes; a cache line
  static constexpr size_t kBytes = (sizeof(T) + kAlign - 1) / kAlign * kAlign;

  static void Free(void* chunk) { ::operator delete(chunk, std::align_val_t(kAlign)); }
  void* Take() {
    if (void* const chunk = free_.Take()) return chunk;
    return ::operator new(kBytes, std::align_val_t(kAlign));
  }

  SpareList<void, kMax, 32> free_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_CHUNK_POOL_H_
