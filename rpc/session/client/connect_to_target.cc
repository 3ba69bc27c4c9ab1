// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/connect_to_target.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/naming/name_cache.h"
#include "transport/base/errno_status.h"
#include "transport/loop/event_loop.h"

namespace farcall {
namespace {

// Addresses, tried one after the other. Keeps itself alive by the callback that it waits
// for. With its loop held.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(Transport& transport, EventLoop& loop, absl::string_view target,
          std::vector<Address> addresses, const ConnectOptions& options, Transport::OnConnect done)
      : transport_(transport),
        loop_(loop),
        target_(target),
        addresses_(std::move(addresses)),
        options_(options),
        done_(std::move(done)) {}

  void TryNext() {
    transport_.Connect(
        loop_, addresses_[next_++], options_,
        [self = shared_from_this()](auto connection) { self->OnResult(std::move(connection)); });
  }

 private:
  void OnResult(absl::StatusOr<std::unique_ptr<Connection>> connection) {
    if (connection.ok()) return done_(std::move(connection));
    if (next_ < addresses_.size()) return TryNext();
    // The last error names a number, which whoever wrote the name may not know.
    const absl::Status& last = connection.status();
    done_(
        Annotate(last, absl::StrCat("cannot reach ", target_, ", address ", next_, " of ", next_)));
  }

  Transport& transport_;
  EventLoop& loop_;
  const std::string target_;
  const std::vector<Address> addresses_;
  const ConnectOptions options_;
  Transport::OnConnect done_;
  size_t next_ = 0;
};

// A name on its way through the resolver.
struct Resolving {
  std::shared_ptr<NameCache> names;
  Transport& transport;
  EventLoop& loop;
  Target target;
  ConnectOptions options;
  Transport::OnConnect done;

  void End(NameCache::Addresses addresses) {
    if (!addresses.ok()) return done(addresses.status());
    ConnectInTurn(
        transport, loop, target.text, *std::move(addresses), options,
        [names = names, host = target.host, done = std::move(done)](auto connection) mutable {
          if (!connection.ok()) names->Forget(host);
          done(std::move(connection));
        });
  }
};

}  // namespace

void ConnectInTurn(Transport& transport, EventLoop& loop, absl::string_view target,
                   std::vector<Address> addresses, const ConnectOptions& options,
                   Transport::OnConnect done) {
  std::make_shared<Attempt>(transport, loop, target, std::move(addresses), options, std::move(done))
      ->TryNext();
}

void ConnectToTarget(const RuntimeParts& parts, EventLoop& loop, const Target& target,
                     const ConnectOptions& options, Transport::OnConnect done) {
  if (target.address) {
    return parts.transport->Connect(loop, *target.address, options, std::move(done));
  }
  auto resolving = std::make_unique<Resolving>(
      Resolving{parts.names, *parts.transport, loop, target, options, std::move(done)});
  // Perhaps from inside this: `done` runs later all the same.
  parts.names->Resolve(
      target.host, target.port,
      [resolving = std::move(resolving)](NameCache::Addresses addresses) mutable {
        EventLoop& on = resolving->loop;
        on.Post([resolving = std::move(resolving), addresses = std::move(addresses)]() mutable {
          resolving->End(std::move(addresses));
        });
      });
}

}  // namespace farcall
