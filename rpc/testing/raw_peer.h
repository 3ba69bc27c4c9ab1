// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_RAW_PEER_H_
#define FARCALL_RPC_TESTING_RAW_PEER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "rpc/wire/frame.h"
#include "transport/base/unique_fd.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// The header of a frame, whatever it says.
std::string HeaderBytes(uint32_t body_size, uint32_t meta_size);
// A frame as bytes; sets meta.attachment_size. `payload` null: none.
std::string FrameBytes(wire::RpcMeta meta, const google::protobuf::MessageLite* payload,
                       absl::string_view attachment = {});
// The meta of a request for farcall.test.TestService.Echo.
wire::RpcMeta EchoMeta(int64_t correlation_id);
// A whole request for it.
std::string EchoFrame(int64_t correlation_id, absl::string_view message = "raw");

// The other end of a connection as a plain blocking socket, which sends what it likes. What
// it waits for, it waits for at most kTestTimeout. One thread.
class RawPeer {
 public:
  // Connects to "1.2.3.4:port" or "unix:PATH".
  explicit RawPeer(const std::string& address);
  // Takes over a connected socket.
  explicit RawPeer(UniqueFd fd);

  // Before anything was received: no more than this waits in the kernel, more or less.
  void LimitReceiveBuffer(int bytes);
  // False: the other end has closed, or takes nothing more.
  bool Send(absl::string_view bytes);
  // Sends `bytes` again and again: goes on where it ended the last time, as far as the kernel takes
  // at once. False: it took none.
  bool SendOver(absl::string_view bytes);
  // The next frame; null: there is none before the end.
  std::optional<Frame> Receive();
  // The next bytes, which are no frame; fewer: there are no more before the end.
  std::string ReceiveBytes(size_t bytes);
  // Until there is something to be read, which it leaves there.
  [[nodiscard]] bool WaitForBytes();
  // Reads to the end, which it leaves out. False: it did not come in time.
  [[nodiscard]] bool WaitForEnd();
  void Close() { fd_.Reset(); }
  // Any thread: what waits ends, and nothing goes either way any more.
  void Shutdown();

 protected:
  // Bytes read; 0: the end; -1: nothing came in time.
  int ReadSome();
  const Buffer& input() const { return input_; }

 private:
  UniqueFd fd_;
  Buffer input_;
  size_t sent_over_ = 0;  // of what SendOver sends, this time
};

// A listening socket as a plain one: takes connections when the test asks for it, or never.
class RawListener {
 public:
  // On 127.0.0.1.
  RawListener();

  const std::string& address() const { return address_; }
  RawPeer Accept();

 private:
  UniqueFd fd_;
  std::string address_;
};

// A unix socket that accepts nothing and whose queue is full: a client that connects waits.
class FullListener {
 public:
  explicit FullListener(const std::string& path);

  // Makes room, and takes who comes next.
  RawPeer MakeRoomAndAccept();

 private:
  UniqueFd fd_;
  UniqueFd waiting_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_RAW_PEER_H_
