// SPDX-License-Identifier: Apache-2.0

#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/raw_echo/carrier.h"
#include "benchmarks/raw_echo/echo_stream.h"

namespace farcall::bench {
namespace {

// One thread that spins over its connections; it sleeps while it has none.
class Spinner {
 public:
  Spinner() : thread_([this] { Run(); }) {}

  ~Spinner() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      new_streams_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void Take(UniqueFd fd) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      arrived_.emplace_back(std::move(fd));
      new_streams_ = true;
    }
    wake_.notify_one();
  }

 private:
  // Takes over what arrived; false when it is to stop.
  bool TakeNewStreams(std::list<EchoStream>& streams) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (streams.empty()) {
      wake_.wait(lock, [this] { return new_streams_.load(); });
    }
    new_streams_ = false;
    streams.splice(streams.end(), arrived_);
    while (streams.size() > kMaxConnections) streams.pop_back();
    return !stop_;
  }

  void Run() {
    std::list<EchoStream> streams;
    while (true) {
      if ((streams.empty() || new_streams_) && !TakeNewStreams(streams)) {
        return;
      }
      streams.remove_if([](EchoStream& stream) { return !stream.Turn(MSG_DONTWAIT); });
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<EchoStream> arrived_;  // under mutex_
  bool stop_ = false;              // under mutex_
  std::atomic<bool> new_streams_ = false;
  std::thread thread_;
};

class Spinning final : public Carrier {
 public:
  explicit Spinning(int threads) : spinners_(static_cast<size_t>(threads)) {}

  void Take(UniqueFd fd) override { spinners_[next_++ % spinners_.size()].Take(std::move(fd)); }

 private:
  std::vector<Spinner> spinners_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Carrier> SpinningCarrier(int threads) {
  return std::make_unique<Spinning>(threads);
}

}  // namespace farcall::bench
