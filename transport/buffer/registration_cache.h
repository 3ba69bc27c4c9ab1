// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_REGISTRATION_CACHE_H_
#define FARCALL_TRANSPORT_BUFFER_REGISTRATION_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

#include "absl/status/status.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/memory_registrar.h"
#include "transport/buffer/registered_memory.h"

namespace farcall {

// Off by default. Whoever turns it on calls Runtime::ForgetMemory before memory that was given to
// Buffer::AppendUserData is unmapped. free(3) unmaps large memory, too. Otherwise a device may
// send the bytes that stood there before, since a registration is of pages, not of addresses
// (docs/memory.md).
struct RegistrationCacheOptions {
  // Pieces of memory of at least so many bytes are registered when they are first sent, and found
  // registered when they are sent again. 0: none is. 4096 to 1 GiB.
  size_t min_bytes = 0;
  // Registered and not forgotten: the least recently sent go first. What is under way is
  // registered until it is sent, beyond these limits. max_bytes >= min_bytes; 1 to 2048.
  size_t max_bytes = size_t{1} << 30;
  size_t max_entries = 1024;

  absl::Status Validate() const;
};

// Any thread.
class RegistrationCache {
 public:
  struct Stats {
    size_t entries = 0;
    size_t bytes = 0;
    uint64_t hits = 0;       // pieces that were found
    uint64_t misses = 0;     // that were registered
    uint64_t evictions = 0;  // for one of the limits
    uint64_t refused = 0;    // that the registrar had no room for
  };

  // `options` are valid; `registrar` outlives what Adopt gave.
  RegistrationCache(const RegistrationCacheOptions& options, MemoryRegistrar& registrar)
      : options_(options), registrar_(registrar) {}
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;

  // The same bytes; large pieces of the program's memory among them are, or will be, known to
  // devices.
  Buffer Adopt(Buffer buffer);
  // No piece that has any of [begin, begin + bytes) is found any more.
  void Forget(const void* begin, size_t bytes);
  Stats stats() const;

 private:
  struct Entry {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    RegisteredMemory memory;
  };
  using Entries = std::list<Entry>;

  bool Wants(const Buffer::Slice& slice) const;
  RegisteredMemory Known(const Block& block, Entries& dropped);
  void Drop(Entries::iterator entry, Entries& dropped);

  const RegistrationCacheOptions options_;
  MemoryRegistrar& registrar_;
  mutable std::mutex mutex_;
  // Guarded by mutex_. The most recently sent first.
  Entries entries_;
  std::map<uintptr_t, Entries::iterator> by_begin_;
  Stats stats_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_REGISTRATION_CACHE_H_
