// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_QUEUES_USER_QUEUE_H_
#define FARCALL_TRANSPORT_LOOP_QUEUES_USER_QUEUE_H_

#include <cstddef>

namespace farcall {

class WatchedCode;

// A piece of user code that waits to be run. Linked into a queue by itself, so
// that queueing allocates nothing.
class UserTask {
 public:
  virtual void Run() = 0;

  UserTask* next_task = nullptr;  // the queue's
  // However long it runs, its thread drives its loop again only afterwards.
  bool keeps_drive = false;
  // Notified when it runs for long. The loop calls BeginWatch before the piece begins, so that the
  // thread that takes the drive finds the code. Run calls EndWatch before this object is destroyed
  // or given to another thread. Null: nothing is notified.
  WatchedCode* watched = nullptr;

 protected:
  ~UserTask() = default;
};

// First in, first out. One thread at a time.
class UserQueue {
 public:
  void Push(UserTask& task) {
    task.next_task = nullptr;
    (first_ == nullptr ? first_ : last_->next_task) = &task;
    last_ = &task;
    ++size_;
  }
  // Null when empty.
  UserTask* Pop() {
    UserTask* const task = first_;
    if (task == nullptr) return nullptr;
    first_ = task->next_task;
    --size_;
    return task;
  }
  bool empty() const { return first_ == nullptr; }
  size_t size() const { return size_; }

 private:
  UserTask* first_ = nullptr;
  UserTask* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_QUEUES_USER_QUEUE_H_
