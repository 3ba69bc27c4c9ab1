// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/dial.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/cluster/resolve.h"
#include "transport/loop/event_loop.h"

namespace farcall {
namespace {

// The addresses of one target, tried one after the other. Keeps itself alive by the
// callback that it waits for. With its loop held.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(Transport& transport, EventLoop& loop, const ConnectOptions& options,
          Transport::OnConnect done)
      : transport_(transport), loop_(loop), options_(options), done_(std::move(done)) {}

  void Try(absl::StatusOr<std::vector<Address>> addresses) {
    if (!addresses.ok()) return done_(addresses.status());
    addresses_ = *std::move(addresses);
    TryNext();
  }

 private:
  void TryNext() {
    transport_.Connect(
        loop_, addresses_[next_++], options_,
        [self = shared_from_this()](auto connection) { self->OnResult(std::move(connection)); });
  }

  void OnResult(absl::StatusOr<std::unique_ptr<Connection>> connection) {
    if (connection.ok() || next_ == addresses_.size()) return done_(std::move(connection));
    TryNext();
  }

  Transport& transport_;
  EventLoop& loop_;
  const ConnectOptions options_;
  Transport::OnConnect done_;
  std::vector<Address> addresses_;
  size_t next_ = 0;
};

}  // namespace

void Dial(const RuntimeParts& parts, EventLoop& loop, const Target& target,
          const ConnectOptions& options, Transport::OnConnect done) {
  if (target.address) {
    return parts.transport->Connect(loop, *target.address, options, std::move(done));
  }
  auto attempt = std::make_shared<Attempt>(*parts.transport, loop, options, std::move(done));
  const bool accepted =
      parts.run_blocking([attempt, &loop, host = target.host, port = target.port] {
        loop.Post([attempt, addresses = Resolve(host, port)]() mutable {
          attempt->Try(std::move(addresses));
        });
      });
  if (accepted) return;
  loop.Post([attempt] {
    attempt->Try(absl::ResourceExhaustedError("too many names wait to be resolved"));
  });
}

}  // namespace farcall
