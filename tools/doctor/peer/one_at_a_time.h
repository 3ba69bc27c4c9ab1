// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_ONE_AT_A_TIME_H_
#define FARCALL_TOOLS_DOCTOR_PEER_ONE_AT_A_TIME_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace farcall::doctor {

// Work that takes seconds, on a thread of its own: one piece of it, no queue.
class OneAtATime {
 public:
  // What takes its time; `stop` asks it to end soon. It returns what tells the result, which is
  // called when the next work may begin. May be empty.
  using Work = std::function<std::function<void()>(const std::atomic<bool>& stop)>;

  OneAtATime() = default;
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;
  // Asks the work that runs to end, and waits for it.
  ~OneAtATime();

  // False: another runs. Any thread.
  bool Start(Work work);

 private:
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  // Guarded by mutex_.
  bool runs_ = false;
  std::thread thread_;
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_ONE_AT_A_TIME_H_
