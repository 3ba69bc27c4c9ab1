// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_CHUNK_POOL_H_
#define FARCALL_TRANSPORT_BASE_CHUNK_POOL_H_

#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace farcall {

// Memory for objects of one type that come and go all the time: what was freed is kept, up to
// `keep` pieces, and used again. Any thread. Outlives its objects.
template <typename T>
class ChunkPool {
 public:
  explicit ChunkPool(size_t keep) : keep_(keep) { free_.reserve(keep); }
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() {
    for (void* const chunk : free_) Free(chunk);
  }

  template <typename... Args>
  T* New(Args&&... args) {
    return new (Take()) T(std::forward<Args>(args)...);
  }
  void Delete(T* object) {
    object->~T();
    Give(object);
  }

 private:
  static void Free(void* chunk) { ::operator delete(chunk, std::align_val_t(alignof(T))); }
  void* Take() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        void* const chunk = free_.back();
        free_.pop_back();
        return chunk;
      }
    }
    return ::operator new(sizeof(T), std::align_val_t(alignof(T)));
  }
  void Give(void* chunk) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (free_.size() < keep_) return free_.push_back(chunk);
    }
    Free(chunk);
  }

  const size_t keep_;
  std::mutex mutex_;
  std::vector<void*> free_;  // guarded by mutex_; never grows beyond what was reserved
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CHUNK_POOL_H_
