// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_SESSION_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/authenticator.h"
#include "rpc/session/connection_info_cache.h"
#include "rpc/session/server/limits/session_timeouts.h"
#include "rpc/session/server/pool_caller.h"
#include "rpc/session/server/server_call.h"
#include "rpc/session/server/server_core.h"
#include "rpc/session/server/server_protocol.h"
#include "rpc/session/turn_output.h"
#include "transport/carrier/backlog_bound.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// Why a request is not run. `code` 0: it is.
struct Refusal {
  int code = 0;
  std::string text;
};

// A connection as the status page shows it.
struct ServerConnectionView {
  ConnectionInfo info;
  absl::string_view protocol;  // static; "" before the first bytes
  std::string user;            // AuthContext::user
  TimePoint since{};
  int calls = 0;  // under way
  uint64_t requests = 0;
};

// The server's end of one connection: finds out which protocol its bytes are of, lets that cut
// requests out of them, admits them and gives them to handlers, and writes the answers. With its
// loop held, but for loop(), pool() and core().
class ServerSession final : public Connection::Handler {
 public:
  // Starts the connection, or closes it if the server takes no more. The session lives until it
  // has closed.
  static void Accept(std::shared_ptr<ServerCore> core, EventLoop& loop,
                     std::unique_ptr<Connection> connection);
  ~ServerSession();

  EventLoop& loop() { return loop_; }
  BlockPool& pool() { return pool_; }  // the connection's, which outlives both
  const std::shared_ptr<ServerCore>& core() const { return core_; }
  // Of the loop among those of the server: where its calls are counted.
  size_t loop_index() const { return loop_index_; }
  // What keeps it: to be copied by its calls. While there is a connection.
  const std::shared_ptr<ServerSession>& self() const { return self_; }
  // Sends what was written, then closes; a second time is nothing. kCancelled: as it should be,
  // and a peer of which nothing was read yet is read from once more; other reasons are logged.
  void Close(const absl::Status& why);
  // Aborts, so that what it holds is free at once: others have no memory. Nothing once it has
  // closed.
  void GiveUpForMemory();
  // Calls whose handler has not begun and, from now on, will not: claimed, each with a reference.
  std::vector<ServerCall*> ClaimWaiting();
  // Null: the connection has closed.
  ServerProtocol* protocol() { return protocol_.get(); }
  std::optional<ServerConnectionView> View();

  // --- For its protocol, from OnRead: the connection is open.

  // Of the connection: as it was when this read began.
  const ConnectionInfoCache::Info& info() { return info_.last(); }
  const std::shared_ptr<const AuthContext>& auth_context() const { return auth_context_; }
  // Whether the next request may be taken now. If not, OnRead comes again.
  bool MayTake();
  // What follows in `input` are frames. Ends the protocol that calls this.
  absl::StatusOr<size_t> GoOnWithFrames(Buffer& input);
  // A whole request was cut off, good or bad.
  void Took() { ++requests_; }
  // Whether the connection has shown a good credential, or needs none.
  bool authenticated() const { return authenticated_; }
  // If not: the credential of its first request, before anything else of that is looked at, or
  // kept. Refused: answer, then Close.
  Refusal Authenticate(absl::string_view credential);
  // Counts a request for a method that was found. Not refused: Submit follows.
  Refusal Admit(const ServiceMap::Found& method, ServerCall::Admission& admission);
  // Counts a request that is refused otherwise; of a method that is not there it is nothing.
  void CountRefused(const ServiceMap::Found& method, int code);
  // A line of the log about the peer.
  void Log(absl::string_view what);
  // Lists a call whose request is not complete; Run follows, also if the connection has closed.
  void Expect(ServerCall& call);
  // Has a call run that is listed: when this turn ends, or on a handler thread; then it may be
  // gone.
  void Run(ServerCall& call);
  // Both: of a complete one.
  void Submit(ServerCall& call);
  // The last call that is expected is what is being read: it does not count as one under way.
  void SetReceiving(bool receiving) { receiving_ = receiving; }
  // Runs what is no call where handlers run. It ends with core()->running.End(loop_index()).
  void RunTask(UserTask& task);

  // --- For its protocol and calls. Nothing happens once the connection has closed.

  // `head`, copied, and then `body`.
  void Write(absl::string_view head, Buffer&& body);
  // A request is under way that is no call, or the next one waits for its place: reading waits, and
  // the connection is not idle.
  void SetBusy(bool busy);
  // The end of `call`: writes its answer; unlists the call and drops the reference that came
  // with it. To be called once for each call, also after the connection has closed.
  void Respond(ServerCall& call, absl::string_view head, Buffer&& body);

  // --- Connection::Handler.

  size_t OnRead(Buffer& input) override;
  Buffer PlaceFor(size_t ahead, size_t bytes) override;
  std::shared_ptr<void> HoldPlace() override;
  bool AwaitsPlace() const override;
  void OnDrained() override;
  void OnClose(const absl::Status& why) override;

 private:
  ServerSession(std::shared_ptr<ServerCore> core, EventLoop& loop,
                std::unique_ptr<Connection> connection);
  bool ChooseProtocol(const Buffer& input);
  void OnLastLook();
  void CloseNow(const absl::Status& why);
  void SendGoAway();
  // Admit, but for the statistics.
  Refusal Enter(const ServiceMap::Found& method, ServerCall::Admission& admission);
  void Trust();
  Refusal Stopping();
  Refusal OverLimit(const ServerCall::Admission& admission);
  // Calls under way, which are limited.
  bool full() const { return call_count_ - (receiving_ ? 1 : 0) >= max_calls_; }
  void Unlist(ServerCall& call);  // which keeps its reference
  void EndCalls(const absl::Status& why);
  void UpdateReading();
  void OnTimeout();
  void WatchMemory();
  void OnMemoryWatch();
  // Bytes that are kept for the peer: of a request that is not complete, and of answers.
  size_t Held() { return partial_ + Backlog(); }
  size_t Backlog() {
    // Of which the connection is to know, and to tell later that it has left.
    output_.Flush();
    return connection_->backlog();
  }
  uint64_t Moved() const;

  // After so many turns of the loop all that had come when it closed was read: with a completion
  // queue it looks at sockets in each 8th turn, and may have found something else there before.
  static constexpr int kTurnsToLook = 16;

  const std::shared_ptr<ServerCore> core_;
  std::shared_ptr<ServerSession> self_;  // until the connection has closed
  EventLoop& loop_;
  const size_t loop_index_;
  std::unique_ptr<Connection> connection_;  // null: closed
  BlockPool& pool_;
  ConnectionInfoCache info_;
  std::unique_ptr<ServerProtocol> protocol_;  // null: nothing came yet, or closed
  std::shared_ptr<const AuthContext> auth_context_;
  BacklogBound written_;
  TurnOutput output_;
  PoolCaller pool_caller_;
  SessionTimeouts timeouts_;
  Timer timeout_timer_;
  Timer memory_timer_;  // pending: it holds much, or did a moment ago
  uint64_t moved_ = 0;  // bytes that had come and left when it was set
  size_t partial_ = 0;  // of a request that is not complete
  Timer last_look_;     // pending: it closes, because of why_, once it knows the protocol
  absl::Status why_;
  int turns_to_look_ = kTurnsToLook;
  const TimePoint since_;
  ServerCall* calls_ = nullptr;  // those without an answer yet
  int call_count_ = 0;
  int max_calls_ = 1;
  uint64_t requests_ = 0;
  bool authenticated_;  // or needs no credential
  bool trusted_ = false;
  bool busy_ = false;
  bool receiving_ = false;
  bool backlogged_ = false;  // the peer reads too slowly
  bool paused_ = false;
  bool closing_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_SESSION_H_
