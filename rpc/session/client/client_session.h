// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_CLIENT_SESSION_H_
#define FARCALL_RPC_SESSION_CLIENT_CLIENT_SESSION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/call/call_table.h"
#include "rpc/call/session_call.h"
#include "rpc/channel_options.h"
#include "rpc/naming/target.h"
#include "rpc/runtime_parts.h"
#include "rpc/session/client/connect_gate.h"
#include "rpc/session/client/session_registry.h"
#include "rpc/session/client/waiting_frames.h"
#include "rpc/session/connection_info_cache.h"
#include "rpc/session/placed_range.h"
#include "rpc/session/turn_output.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/oversized_frame.h"
#include "transport/base/threads/in_flight.h"
#include "transport/carrier/backlog_bound.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// How the connections of a session fare. With the loop held; the session itself may be used.
class SessionObserver {
 public:
  virtual void OnReachable() = 0;
  // It could not connect, or the connection broke while calls waited on it. Before they fail.
  virtual void OnUnreachable(const absl::Status& why) = 0;

 protected:
  ~SessionObserver() = default;
};

// The client's end of one connection, and of the next one when it breaks: the calls
// that wait on it, and the bytes in between. Belongs to one loop, which is held for all of it.
//
// Lives until it is retired and its last call has ended, whoever else lets go of it.
class ClientSession final : public Connection::Handler,
                            public std::enable_shared_from_this<ClientSession> {
 public:
  // What the sessions of a channel share; outlives them.
  struct Environment {
    RuntimeParts parts;
    ChannelOptions options;
    std::shared_ptr<TlsClientContext> tls;
  };

  // `observer` (may be null) is notified until Retire. `gate` is shared by the sessions to one
  // server. Connects with the first call.
  ClientSession(std::shared_ptr<const Environment> environment, EventLoop& loop, Target target,
                SessionObserver* observer, std::shared_ptr<ConnectGate> gate);
  ~ClientSession();

  // Sends a frame whose correlation_id is `call_id`, now or when the connection is there, and
  // ends `call` in every case, perhaps before this returns. The frame: `head`, which is small and
  // copied, and then `rest`. The caller holds the session.
  void Start(SessionCall& call, uint64_t call_id, TimePoint deadline, absl::string_view head,
             Buffer&& rest);
  // Takes room for the head of what is started next. False: the pool is at its limit.
  bool Reserve(size_t head) { return !connected() || !introduced() || output_.Reserve(head); }
  // The call that waits here under that id, or null.
  SessionCall* Find(uint64_t call_id) { return static_cast<SessionCall*>(calls_.Find(call_id)); }
  // Removes that call without ending it: its answer is dropped. The caller holds the session.
  void Forget(uint64_t call_id);
  // Connects if there is no connection; the observer is notified of the result.
  void Probe();
  // Connects before any call, to take the place of a session whose connection is plain for that
  // reason. Where this one would be plain too it fails, and only the observer is notified.
  void ConnectInsteadOf(WhyNotRdma plain);
  void SetObserver(SessionObserver& observer) { observer_ = &observer; }
  // No call will be started any more; those that wait go on to their ends.
  void Retire();

  size_t calls() const { return calls_.size(); }
  // Nothing was sent yet on the connection that there will be, if any.
  bool connecting() const { return connecting_; }
  // What is started now is sent at once.
  bool connected() const { return connection_ != nullptr && !closing_; }
  // RDMA was asked for, and the connection cannot go over to it: why.
  const std::optional<WhyNotRdma>& plain() const { return plain_; }
  // An attempt for a connection that can go over to RDMA has just failed, for the reason that `why`
  // carries. One that is plain shows it from now on in place of its own, which may have passed.
  void StaysPlain(const absl::Status& why);
  const Target& target() const { return target_; }
  EventLoop& loop() const { return loop_; }
  // Of the connection; while there is none, of the last one, as far as that is known.
  ConnectionInfo LastInfo() const;

  size_t OnRead(Buffer& input) override;
  Buffer PlaceFor(size_t ahead, size_t bytes) override;
  std::shared_ptr<void> HoldPlace() override;
  void OnDrained() override {}
  void OnClose(const absl::Status& why) override;

 private:
  // False: Refuse says why.
  bool MayBegin(TimePoint deadline, size_t bytes) {
    if (bytes > kFrameHeaderSize + max_request_body_ && connected()) return false;
    return deadline > loop_.now() && !Overfull(bytes) &&
           calls_.size() < static_cast<size_t>(environment_->options.max_pending_calls);
  }
  // Whether so many bytes more are too many to wait to be sent. What finds nothing waiting may be
  // as large as it likes.
  bool Overfull(size_t bytes) {
    const size_t limit = environment_->options.max_backlog;
    const size_t mark = limit - std::min(bytes, limit);
    if (connected()) return written_.Above(mark, [this] { return Backlog(); });
    return waiting_.bytes() > mark;
  }
  size_t Backlog();
  void Refuse(SessionCall& call, TimePoint deadline, size_t bytes);
  bool ConnectFor(SessionCall& call);
  void Connect();
  void ConnectAgain(bool probe);
  void ConnectNow();
  void OnReachedByAnother();
  void OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection);
  bool introduced() const { return introduced_ || environment_->options.auth == nullptr; }
  void WriteOrWait(uint64_t call_id, absl::string_view head, Buffer&& rest);
  void Write(Buffer&& frame);
  void Fail(SessionCall& call, int code, absl::string_view text, bool may_have_run);
  void FailAll(int code, absl::string_view text, bool may_have_run);
  absl::StatusOr<size_t> CutAnswer(Buffer& input);
  void TakeAnswer();
  absl::StatusOr<size_t> OnOversized(const Buffer& input);
  void OnMalformed(const Buffer& input, const absl::Status& what);
  void OnAnswer();
  SessionCall* Begun() { return begun_.has_value() ? Find(*begun_) : nullptr; }
  void NoteWhoseAnswerBegan(const Buffer& input, size_t frame_size);
  void NotePlacedRange(size_t frame_size);
  void OnUnmatchedAnswer();
  void FailSent(const absl::Status& why);
  void OnDeadlines();
  void ArmDeadline();
  void LetGoIfDone();

  const InFlightOne counted_;  // first, so that it ends when all else is gone
  const std::shared_ptr<const Environment> environment_;
  EventLoop& loop_;
  const Target target_;
  SessionObserver* observer_;

  std::shared_ptr<ClientSession> self_;  // while it has work
  std::unique_ptr<Connection> connection_;
  TurnOutput output_;     // to it
  BacklogBound written_;  // of it
  ConnectionInfoCache info_;
  std::optional<WhyNotRdma> plain_;
  bool connecting_ = false;
  bool introduced_ = false;  // the credential went out on this connection
  // What the server of this connection takes at once, as far as it has said.
  size_t max_request_body_ = UINT32_MAX;
  bool closing_ = false;  // and what was sent on it has failed; the next one is waited for
  bool probe_when_closed_ = false;
  bool retired_ = false;
  const std::shared_ptr<ConnectGate> gate_;
  CallTable calls_;
  Timer deadline_timer_;
  WaitingFrames waiting_;
  const FrameLimits limits_;
  Frame frame_;
  OversizedFrame oversized_;
  // Whose answer stands unfinished at the front of the input, a call's or not.
  std::optional<uint64_t> begun_;
  PlacedRange placed_range_;  // of that answer
  // Last: others may look at what is on the list, as soon as they hold the loop.
  const SessionRegistry::Entry listed_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_CLIENT_SESSION_H_
