// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/rdma_listener.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/accept_gate.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/admission.h"
#include "transport/rdma/cm_options.h"
#include "transport/rdma/run_on.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

absl::Status Validate(const Address& address, const ListenOptions& options) {
  if (options.backlog < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backlog of a listener must be above 0, not ", options.backlog));
  }
  if (address.family() == AddressFamily::kUnix) {
    return NotRdma(WhyNotRdma::kNotForThisAddress, "");
  }
  return options.connection.Validate();
}

}  // namespace

class RdmaListener::OpenDoor final : public Admission,
                                     public std::enable_shared_from_this<OpenDoor> {
 public:
  OpenDoor(LoopGroup& loops, const ConnectionOptions& options, Transport::OnAccept on_accept)
      : loops_(loops), options_(options), gate_(std::move(on_accept)) {}

  absl::StatusOr<Admitted> Admit(const ConnectData& data) override {
    if (data.token != UpgradeToken{}) {
      return NotRdma(WhyNotRdma::kRejected, "nobody awaits this token here");
    }
    EventLoop& loop = loops_.Next();
    auto deliver = [self = shared_from_this(), &loop](std::unique_ptr<Connection> connection) {
      const AcceptGate::Pass pass = self->gate_.Enter();
      if (pass.owns_lock()) self->gate_.Accept(loop, std::move(connection));
    };
    return Admitted{&loop, options_, std::move(deliver), nullptr};
  }
  void Close() { gate_.Close(); }

 private:
  LoopGroup& loops_;  // until Close
  const ConnectionOptions options_;
  AcceptGate gate_;
};

absl::StatusOr<std::unique_ptr<Listener>> RdmaListener::Open(RdmaHost& host, EventLoop& control,
                                                             LoopGroup& loops,
                                                             const Address& address,
                                                             const ListenOptions& options,
                                                             Transport::OnAccept on_accept) {
  auto door = std::make_shared<OpenDoor>(loops, options.connection, std::move(on_accept));
  std::unique_ptr<PortListener> port;
  absl::Status status = Validate(address, options);
  if (status.ok()) {
    RunOn(control, [&] {
      status = Detached(host.Ready());
      if (!status.ok()) return;
      auto opened = PortListener::Open(
          host, {address, options.backlog, options.connection.traffic_class}, *door, nullptr);
      status = Detached(opened.status());
      if (opened.ok()) port = *std::move(opened);
    });
  }
  if (!status.ok()) {
    return Annotate(status, absl::StrCat("cannot listen on ", address.ToString(), " over RDMA"));
  }
  const Address bound = port->address();
  return std::unique_ptr<Listener>(
      new RdmaListener(control, bound, std::move(door), std::move(port)));
}

RdmaListener::RdmaListener(EventLoop& control, Address address, std::shared_ptr<OpenDoor> door,
                           std::unique_ptr<PortListener> port)
    : control_(control),
      address_(std::move(address)),
      door_(std::move(door)),
      port_(std::move(port)) {}

void RdmaListener::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (port_ == nullptr) return;
  door_->Close();
  RunOn(control_, [this] { port_.reset(); });
}

}  // namespace farcall
