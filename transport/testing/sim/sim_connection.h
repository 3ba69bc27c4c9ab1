// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_CONNECTION_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/carrier/drain_mark.h"
#include "transport/connection_info.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/posted_call.h"
#include "transport/testing/sim/sim_inbox.h"
#include "transport/testing/sim/sim_options.h"
#include "transport/testing/sim/sim_port.h"
#include "transport/testing/test_random.h"
#include "transport/transport.h"

namespace farcall {

// One end of a simulated connection. It behaves as a socket does where transport.h leaves
// a choice: what had been sent before an end or a reset is delivered first.
class SimConnection final : public Connection, private SimPort::Receiver, private Flushable {
 public:
  struct Parts {
    std::shared_ptr<SimPort> mine;  // its loop is held
    std::shared_ptr<SimPort> other;
    SimOptions network;
    TestRandom random;
    ConnectionOptions options;
    Address local;
    Address peer;
  };

  SimConnection(Parts parts, BlockPool& pool);
  SimConnection(const SimConnection&) = delete;
  SimConnection& operator=(const SimConnection&) = delete;
  ~SimConnection() override;

  void Start(Handler& handler) override;
  void Write(Buffer data) override;
  void PauseRead() override { paused_ = true; }
  void ResumeRead() override;
  void Close(absl::Status why, CloseMode mode) override;
  size_t backlog() const override { return queue_.size(); }
  size_t unacknowledged() const override { return in_flight_; }
  BlockPool& pool() override { return pool_; }
  ConnectionInfo info() const override { return info_; }

 private:
  enum class State : uint8_t { kOpen, kFlushing, kClosed };

  void Receive(SimPacket packet) override;
  void Flush() override;
  void OnTime();
  void ArmTimer();
  bool TakeIn(const SimPacket& packet);
  void Handle(const SimPacket& packet);
  void Deliver();
  void SendPacket();
  void EndFlush();
  void Leave();
  void Send(SimPacket::Kind kind, std::string bytes = std::string(), size_t acked = 0);
  absl::Status Lost(absl::string_view how) const;
  void Finish(absl::Status why);

  Parts parts_;
  EventLoop& loop_;
  BlockPool& pool_;
  ConnectionInfo info_;
  Handler* handler_ = nullptr;
  State state_ = State::kOpen;
  absl::Status why_;

  Buffer queue_;           // to be sent
  size_t in_flight_ = 0;   // bytes sent and not read by the other end
  TimePoint line_free_{};  // the last byte sent to this end has left the other
  SimInbox inbox_;         // data, end, reset
  SimInbox acks_;          // apart: what waits to be read does not hold them up
  Buffer input_;
  std::optional<BlockWriter> writer_;
  std::optional<TimePoint> retry_;  // the pool had no block
  bool paused_ = false;
  bool redeliver_ = false;
  DrainMark drain_;
  bool reset_ = false;       // one is in the inbox
  bool ended_ = false;       // our end was sent
  bool peer_ended_ = false;  // kFlushing: the other's was read
  Timer timer_;
  Timer close_timer_;
  PostedCall on_close_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_CONNECTION_H_
