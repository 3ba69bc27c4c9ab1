// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/rdma_listener.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/accept_gate.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/setup/admission.h"
#include "transport/rdma/setup/run_on.h"
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

  absl::StatusOr<Admitted> Admit(const ConnectData& data, const Address&) override {
    if (data.token != UpgradeToken{}) {
      return NotRdma(WhyNotRdma::kRejected, "nobody awaits this token here");
    }
    EventLoop& loop = loops_.Next();
    auto deliver = [self = shared_from_this(), &loop](std::unique_ptr<Connection> connection) {
      const AcceptGate::Pass pass = self->gate_.Enter();
      if (pass.owns_lock()) self->gate_.Accept(loop, std::move(connection));
    };
    return Admitted{&loop, options_, PeerTrust::kTrusted, std::move(deliver), {}};
  }
  void Close() { gate_.Close(); }

 private:
  LoopGroup& loops_;  // until Close
  const ConnectionOptions options_;
  AcceptGate gate_;
};

// With the control loop held.
class RdmaListener::Ear final : public std::enable_shared_from_this<Ear> {
 public:
  // `door` outlives it.
  Ear(RdmaHost& host, OpenDoor& door, PortListener::Where where)
      : host_(host), door_(door), where_(std::move(where)), retry_([this] { Again(); }) {}

  absl::Status Listen() {
    auto opened = PortListener::Open(host_, where_, door_, [weak = weak_from_this()] {
      if (const auto alive = weak.lock()) alive->OnRemoved();
    });
    if (!opened.ok()) return opened.status();
    port_ = *std::move(opened);
    where_.address = port_->address();
    return absl::OkStatus();
  }
  const Address& address() const { return where_.address; }
  void Close() {
    closed_ = true;
    control().CancelTimer(retry_);
    port_.reset();
  }

 private:
  // Of a device that is back: nothing tells of it but the attempt.
  static constexpr Duration kRetryEvery = std::chrono::milliseconds(250);

  EventLoop& control() { return host_.parts().control; }
  void OnRemoved() {
    if (closed_) return;
    port_.reset();
    control().SetTimer(retry_, control().now() + kRetryEvery);
  }
  void Again() {
    if (!Listen().ok()) control().SetTimer(retry_, control().now() + kRetryEvery);
  }

  RdmaHost& host_;
  OpenDoor& door_;
  PortListener::Where where_;  // with its port, once it had one
  std::unique_ptr<PortListener> port_;
  bool closed_ = false;
  Timer retry_;
};

absl::StatusOr<std::unique_ptr<Listener>> RdmaListener::Open(RdmaHost& host, EventLoop& control,
                                                             LoopGroup& loops,
                                                             const Address& address,
                                                             const ListenOptions& options,
                                                             Transport::OnAccept on_accept) {
  auto door = std::make_shared<OpenDoor>(loops, options.connection, std::move(on_accept));
  const auto ear = std::make_shared<Ear>(
      host, *door, PortListener::Where{address, options.backlog, options.connection.traffic_class});
  absl::Status status = Validate(address, options);
  if (status.ok()) {
    RunOn(control, [&] {
      status = Detached(host.Ready());
      if (status.ok()) status = Detached(ear->Listen());
    });
  }
  if (!status.ok()) {
    return Annotate(status, absl::StrCat("cannot listen on ", address.ToString(), " over RDMA"));
  }
  const Address bound = ear->address();
  return std::unique_ptr<Listener>(new RdmaListener(control, bound, std::move(door), ear));
}

RdmaListener::RdmaListener(EventLoop& control, Address address, std::shared_ptr<OpenDoor> door,
                           std::shared_ptr<Ear> ear)
    : control_(control),
      address_(std::move(address)),
      door_(std::move(door)),
      ear_(std::move(ear)) {}

void RdmaListener::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ear_ == nullptr) return;
  door_->Close();
  RunOn(control_, [this] {
    ear_->Close();
    ear_.reset();
  });
}

}  // namespace farcall
