// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_WIRE_H_
#define FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_WIRE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/session/session_testing.h"
#include "transport/testing/test_random.h"
#include "transport/transport.h"

namespace farcall {

// A connection to a server as a link makes it: bytes come by read, or are fetched by a device,
// which writes them piece by piece to where the handler wants them. When that is given up, the
// device may go on to write for a while, the same bytes to the same place, and they come once more.
// With its loop held.
class PlacingWire {
 public:
  explicit PlacingWire(EventLoop& loop) : loop_(loop) {}

  std::unique_ptr<Connection> Connect(BlockPool& pool);
  // The client's: more bytes for the server.
  void Send(absl::string_view bytes) { stream_.append(bytes.data(), bytes.size()); }
  // Something moves on.
  void Step(TestRandom& random);
  // What is being fetched comes another way.
  void GiveUpGeneration();
  void End(const absl::Status& why);

  bool closed() const { return handler_ == nullptr; }
  // Nothing will come, and no read is under way.
  bool idle() const { return reads_.empty() && (closed() || received_ == stream_.size()); }
  // Whether a device may still write into [begin, begin + bytes).
  bool WritesTo(const char* begin, size_t bytes) const;
  // Answers of the server so far.
  uint64_t TakeFrames();
  uint64_t landed() const { return landed_; }
  int held_at_end() const { return held_at_end_; }

 private:
  class Server;
  // One RDMA READ.
  struct Read {
    Buffer to;
    uint64_t offset = 0;  // in the stream
    size_t written = 0;
    bool stale = false;  // what it brings is not wanted
    std::shared_ptr<void> hold = nullptr;
  };

  void ReadSome(TestRandom& random);
  void Fetch(TestRandom& random);
  void DeviceWrites(TestRandom& random);
  void Deliver();
  size_t unread() const { return stream_.size() - received_; }

  EventLoop& loop_;
  Connection::Handler* handler_ = nullptr;
  std::string stream_;
  uint64_t received_ = 0;   // handed over
  uint64_t requested_ = 0;  // or being fetched
  size_t needed_ = 0;
  Buffer input_;
  Buffer written_;
  std::deque<Read> reads_;
  uint64_t landed_ = 0;
  int held_at_end_ = 0;
  bool unread_ = false;  // there are bytes that the handler has not seen
  bool paused_ = false;
  bool closing_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_WIRE_H_
