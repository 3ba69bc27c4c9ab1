// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_QUEUES_FLUSH_LIST_H_
#define FARCALL_TRANSPORT_LOOP_QUEUES_FLUSH_LIST_H_

#include <cstddef>
#include <vector>

namespace farcall {

// Something with output to push out once, at the end of the turn.
class Flushable {
 public:
  virtual void Flush() = 0;  // with the loop held

  // True: it gathers what others flush, and is flushed before them.
  bool flushes_first = false;
  // The list's: the place in it, or kNotQueued.
  static constexpr size_t kNotQueued = ~size_t{0};
  size_t flush_slot = kNotQueued;

 protected:
  ~Flushable() = default;
};

// Who is to be flushed. Pure; one thread at a time.
class FlushList {
 public:
  FlushList() = default;
  FlushList(const FlushList&) = delete;
  FlushList& operator=(const FlushList&) = delete;

  void Add(Flushable& output) {  // nothing if it is there already
    if (output.flush_slot == Flushable::kNotQueued) Queue(output);
  }
  void Remove(Flushable& output);
  bool empty() const { return outputs_.empty(); }

  // Flushes in the order of Add. A Flush may add and remove any output, and end the life of
  // its own. What it adds (a layer below, or itself again) is flushed behind
  // the rest, kRounds deep; after that it stays here, so that this ends.
  // `but_last`: the last of several stays, once, for what will be added to it.
  void FlushAll(bool but_last = false);

 private:
  // Layers queue one another, and are few; more is an output that feeds itself.
  static constexpr int kRounds = 4;

  void Queue(Flushable& output);
  size_t KeepLast();
  void Renumber(size_t from);

  std::vector<Flushable*> outputs_;  // null: removed
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_QUEUES_FLUSH_LIST_H_
