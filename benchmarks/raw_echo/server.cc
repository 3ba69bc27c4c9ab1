// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/server.h"

#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "benchmarks/raw_echo/socket.h"

namespace farcall::bench {

absl::StatusOr<std::unique_ptr<RawServer>> RawServer::Start(const ServerOptions& options) {
  const absl::Status valid = options.Validate();
  if (!valid.ok()) return valid;
  absl::StatusOr<UniqueFd> listener = ListenOn(options.listen);
  if (!listener.ok()) return listener.status();
  std::unique_ptr<Carrier> carrier =
      options.polling == "busy" ? SpinningCarrier(options.threads) : BlockingCarrier();
  return std::unique_ptr<RawServer>(new RawServer(std::move(listener).value(), std::move(carrier)));
}

RawServer::RawServer(UniqueFd listener, std::unique_ptr<Carrier> carrier)
    : listener_(std::move(listener)),
      address_(AddressOf(listener_.get())),
      carrier_(std::move(carrier)),
      acceptor_([this] { Accept(); }) {}

RawServer::~RawServer() {
  stop_ = true;
  // Wakes accept(2), on Linux.
  shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
}

void RawServer::Accept() {
  while (!stop_) {
    UniqueFd connection = AcceptFrom(listener_.get());
    if (connection.valid()) {
      carrier_->Take(std::move(connection));
    } else if (!stop_) {
      // Out of descriptors, or a peer that is gone already: neither is worth a spinning core.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

}  // namespace farcall::bench
