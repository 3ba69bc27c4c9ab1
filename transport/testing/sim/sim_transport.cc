// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_transport.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/testing/sim/sim_connector.h"

namespace farcall {
namespace {

class SimListener final : public Listener {
 public:
  SimListener(SimNetwork& network, Address address, std::shared_ptr<SimListening> listening)
      : network_(network), address_(std::move(address)), listening_(std::move(listening)) {}
  ~SimListener() override { Close(); }

  const Address& address() const override { return address_; }
  void Close() override {
    listening_->gate.Close();
    // Another listener may have the address by the time of a second Close.
    if (network_.Find(address_) == listening_) network_.Close(address_);
  }

 private:
  SimNetwork& network_;
  const Address address_;
  const std::shared_ptr<SimListening> listening_;
};

}  // namespace

void SimTransport::Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                           OnConnect done) {
  SimConnector::Start(loop, network_, pool_, peer, options, std::move(done));
}

absl::StatusOr<std::unique_ptr<Listener>> SimTransport::Listen(LoopGroup& loops,
                                                               const Address& address,
                                                               const ListenOptions& options,
                                                               OnAccept on_accept) {
  const std::string what = absl::StrCat("cannot listen on ", address.ToString(), ": ");
  absl::Status valid = options.connection.Validate();
  if (options.backlog < 1) valid = absl::InvalidArgumentError("the backlog must be above 0");
  if (!valid.ok()) return absl::Status(valid.code(), absl::StrCat(what, valid.message()));
  auto listening = std::make_shared<SimListening>(loops, options.connection, std::move(on_accept));
  auto bound = network_.Open(address, listening);
  if (!bound.ok()) {
    return absl::Status(bound.status().code(), absl::StrCat(what, bound.status().message()));
  }
  return std::make_unique<SimListener>(network_, *std::move(bound), std::move(listening));
}

}  // namespace farcall
