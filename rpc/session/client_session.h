// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_SESSION_H_
#define FARCALL_RPC_SESSION_CLIENT_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/call/call_table.h"
#include "rpc/call/client_call.h"
#include "rpc/cluster/target.h"
#include "rpc/dispatch/in_flight.h"
#include "rpc/options.h"
#include "rpc/runtime_parts.h"
#include "rpc/session/kept_info.h"
#include "rpc/session/reconnect.h"
#include "rpc/wire/frame.h"
#include "transport/buffer/block_writer.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// The client's end of one connection, and of the next one when it breaks: the calls
// that wait on it, and the bytes in between. Belongs to one loop; all but
// loop(), NextCallId() and Cancel() with the loop held.
//
// Lives until it is retired and its last call has ended, whoever else lets go of it.
class ClientSession final : public Cancellable,
                            public Connection::Handler,
                            public std::enable_shared_from_this<ClientSession> {
 public:
  // `parts` and `loop` outlive the session. Not held; connects with the first call.
  ClientSession(const RuntimeParts& parts, EventLoop& loop, Target target,
                const ChannelOptions& options);
  ~ClientSession() override;

  EventLoop& loop() { return loop_; }
  // Never 0: some peers answer what they cannot read with 0.
  uint64_t NextCallId() { return last_call_id_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Ends that call with ECANCELED if it waits. Any thread.
  void Cancel(uint64_t call_id) override;

  // Sends the frame, `head` and then `body`, now or when the connection is there, and
  // completes `call` in every case. `head` is copied.
  void Start(ClientCall& call, uint64_t call_id, TimePoint deadline, absl::string_view head,
             Buffer body);
  // No call will be started any more.
  void Retire();

  size_t OnRead(Buffer& input) override;
  void OnDrained() override {}
  void OnClose(const absl::Status& why) override;

 private:
  struct Waiting {
    uint64_t call_id;
    Buffer frame;
  };

  bool Refuse(ClientCall& call, TimePoint deadline, size_t bytes);
  bool Connect(ClientCall& call);
  void OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection);
  void Open(std::unique_ptr<Connection> connection);
  void End(PendingCall& call, int code, absl::string_view text);
  void EndAll(int code, absl::string_view text);
  void OnDeadlines();
  void ArmDeadline();
  void LetGoIfDone();

  const InFlightOne counted_;  // first, so that it ends when all else is gone
  const RuntimeParts parts_;
  EventLoop& loop_;
  const Target target_;
  const ChannelOptions options_;
  std::atomic<uint64_t> last_call_id_{0};

  std::shared_ptr<ClientSession> self_;  // while it has work
  std::unique_ptr<Connection> connection_;
  KeptInfo info_;
  bool connecting_ = false;
  bool retired_ = false;
  Reconnect reconnect_;
  CallTable calls_;
  Timer deadline_timer_;
  std::vector<Waiting> waiting_;  // frames for a connection that is not there yet
  size_t waiting_bytes_ = 0;
  BlockWriter writer_;
  Frame frame_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_SESSION_H_
