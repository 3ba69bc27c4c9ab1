// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SESSION_H_
#define FARCALL_RPC_SESSION_SERVER_SESSION_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/session/kept_info.h"
#include "rpc/session/server_call.h"
#include "rpc/session/server_core.h"
#include "rpc/wire/frame.h"
#include "transport/buffer/block_writer.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// The server's end of one connection: cuts requests out of its bytes, gives them to
// handlers, and writes the answers. With its loop held, but for loop().
class ServerSession final : public Connection::Handler,
                            public std::enable_shared_from_this<ServerSession> {
 public:
  // Starts the connection. The session lives until it has closed.
  static void Accept(std::shared_ptr<ServerCore> core, EventLoop& loop,
                     std::unique_ptr<Connection> connection);
  ~ServerSession();

  EventLoop& loop() { return loop_; }
  // Of the connection, which is open: as it is now.
  const KeptInfo::Info& info() { return info_.Of(*connection_); }

  // The end of `call`: writes its answer, `head` (copied) and then `body`, unless the
  // connection has closed; unlists the call and drops the reference that came with it.
  void Respond(ServerCall& call, absl::string_view head, Buffer body);
  // Sends what was written, then closes.
  void Close(const absl::Status& why);

  size_t OnRead(Buffer& input) override;
  void OnDrained() override;
  void OnClose(const absl::Status& why) override;

 private:
  ServerSession(std::shared_ptr<ServerCore> core, EventLoop& loop,
                std::unique_ptr<Connection> connection);
  void OnRequest();
  void Refuse(int code, absl::string_view text);
  void List(ServerCall& call);
  void Unlist(ServerCall& call);
  void WriteHead(absl::string_view head, Buffer& out);
  void UpdateReading();

  const std::shared_ptr<ServerCore> core_;
  EventLoop& loop_;
  std::unique_ptr<Connection> connection_;  // null: closed
  KeptInfo info_;
  std::optional<BlockWriter> writer_;  // while there is a connection
  Frame frame_;
  ServerCall* calls_ = nullptr;  // those without an answer yet
  int call_count_ = 0;
  bool backlogged_ = false;  // the peer reads too slowly
  bool paused_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SESSION_H_
