// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_THREAD_PLACE_H_
#define FARCALL_TRANSPORT_BASE_THREADS_THREAD_PLACE_H_

#include <pthread.h>

#include <mutex>
#include <vector>

namespace farcall {

// The processors of some threads, which may be changed while they run. Any thread.
class ThreadPlace {
 public:
  ThreadPlace() = default;
  ThreadPlace(const ThreadPlace&) = delete;
  ThreadPlace& operator=(const ThreadPlace&) = delete;

  // The calling thread is one of them as long as this lives. Made and destroyed by it.
  class Stay {
   public:
    explicit Stay(ThreadPlace& place) : place_(place) { place_.Enter(); }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;
    ~Stay() { place_.Leave(); }

   private:
    ThreadPlace& place_;
  };

  // Those that are there and those that come run on these only. What may not run there stays where
  // it is, and is only slower. Empty: each stays where it is.
  void MoveTo(std::vector<int> cpus);

 private:
  void Enter();
  void Leave();

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<int> cpus_;
  std::vector<pthread_t> threads_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_THREAD_PLACE_H_
