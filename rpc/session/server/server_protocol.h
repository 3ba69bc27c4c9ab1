// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_PROTOCOL_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_PROTOCOL_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// What one protocol makes of the bytes of one connection to a server. Belongs to a ServerSession,
// which outlives it: made when the first bytes show which protocol they are of, destroyed when
// the connection has closed. All with the session's loop held; calls may end after it is gone.
class ServerProtocol {
 public:
  virtual ~ServerProtocol() = default;

  // For people: "baidu_std", "http/1.1". Static.
  virtual absl::string_view name() const = 0;
  // Calls under way at once, at least 1; with so many of them the session reads no further. 1
  // for a protocol that answers in the order of asking.
  virtual int max_calls() const = 0;
  // There are more bytes in `input`, or what held up the rest of them is over. Takes whole
  // requests off its front, each reported to the session by Took(), as long as session.MayTake(),
  // and leaves the rest; bounds what it keeps of a request that is not complete. Returns how
  // many bytes the message at the front needs in all, as far as that is known (0: not known).
  // After an error the connection closes with that reason, once what was written has left.
  virtual absl::StatusOr<size_t> OnRead(Buffer& input) = 0;
  // Whether a request was begun and is not complete, which may last for
  // ServerOptions::read_timeout_ms; `input` is what OnRead left.
  virtual bool MidRequest(const Buffer& input) const { return !input.empty(); }
  // Bytes of it that are kept, those of `input` among them.
  virtual size_t Held(const Buffer& input) const { return input.size(); }
  // As Connection::Handler.
  virtual Buffer PlaceFor(size_t /*ahead*/, size_t /*bytes*/) { return {}; }
  virtual std::shared_ptr<void> HoldPlace() { return nullptr; }
  virtual bool AwaitsPlace() const { return false; }
  // This side closes, and each request that was taken has its answer: what tells the peer that
  // nothing it sent beyond was looked at.
  virtual void SendGoAway() {}
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_PROTOCOL_H_
