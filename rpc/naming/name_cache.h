// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAME_CACHE_H_
#define FARCALL_RPC_NAMING_NAME_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/base/time.h"

namespace farcall {

// The addresses of hosts, looked up on threads that may block: of one name once at a time, however
// many wait for it, and of kAtOnce names at a time, so that a name server that is dead for some
// names holds up others only when there are many of those. Any thread.
class NameCache : public std::enable_shared_from_this<NameCache> {
 public:
  using Addresses = absl::StatusOr<std::vector<Address>>;
  // Blocks, as Resolve (resolve.h) does.
  using Lookup = std::function<Addresses(const std::string& host, uint16_t port)>;
  // As RuntimeParts::run_blocking.
  using RunBlocking = std::function<bool(std::function<void()>)>;
  using OnAddresses = absl::AnyInvocable<void(Addresses)>;

  static constexpr size_t kAtOnce = 7;
  // getaddrinfo(3) tells no time to live.
  static constexpr Duration kKept = std::chrono::seconds(5);
  static constexpr size_t kMaxKept = 1024;
  static constexpr size_t kMaxWaiting = 10'000;

  // `clock` outlives this.
  NameCache(const Clock& clock, RunBlocking run_blocking, Lookup lookup)
      : clock_(clock), run_blocking_(std::move(run_blocking)), lookup_(std::move(lookup)) {}

  // `done` runs once: from inside this where the answer is known, or too much waits, else on a
  // thread that may block, which it must not do for long.
  void Resolve(const std::string& host, uint16_t port, OnAddresses done);
  // None of the host's addresses could be reached: they are asked for again the next time.
  void Forget(const std::string& host);

 private:
  struct Waiting {
    uint16_t port;
    OnAddresses done;
  };
  struct Name {
    std::vector<Waiting> waiting;
    bool asked = false;  // it is being looked up, or in the queue for that
    std::vector<Address> known;
    TimePoint known_until{};
  };

  void StartLookups();
  void OnAnswer(const std::string& host, const Addresses& answer);

  const Clock& clock_;
  const RunBlocking run_blocking_;
  const Lookup lookup_;
  std::mutex mutex_;
  // Guarded by mutex_.
  absl::flat_hash_map<std::string, Name> names_;
  std::deque<std::string> queue_;  // names to be looked up
  size_t running_ = 0;             // those that are
  size_t waiting_ = 0;             // of all names
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAME_CACHE_H_
