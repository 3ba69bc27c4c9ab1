// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_PORT_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_PORT_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "transport/loop/event_loop.h"

namespace farcall {

struct SimPacket {
  enum class Kind : uint8_t {
    kData,
    kAck,    // `acked` bytes were read
    kEnd,    // nothing comes any more
    kReset,  // the other end is gone, and what it had not read is lost
  };
  Kind kind = Kind::kData;
  std::string bytes;
  size_t acked = 0;
};

// Where one end of a simulated connection gets its packets. Both ends keep both ports,
// which so outlive whichever end dies first.
class SimPort {
 public:
  class Receiver {
   public:
    virtual void Receive(SimPacket packet) = 0;  // with the loop held

   protected:
    ~Receiver() = default;
  };

  // `cut`, shared by both ports: true, and nothing arrives any more.
  SimPort(EventLoop& loop, std::shared_ptr<std::atomic<bool>> cut)
      : loop_(loop), cut_(std::move(cut)) {}

  EventLoop& loop() const { return loop_; }
  void Cut() { cut_->store(true); }
  // With loop() held; null: there is no connection any more.
  void SetReceiver(Receiver* receiver) { receiver_ = receiver; }

  // Any thread. In order for each sender; data to no connection is answered by a reset.
  static void Send(SimPacket packet, const std::shared_ptr<SimPort>& from,
                   const std::shared_ptr<SimPort>& to);

 private:
  EventLoop& loop_;
  const std::shared_ptr<std::atomic<bool>> cut_;
  Receiver* receiver_ = nullptr;  // with loop_ held
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_PORT_H_
