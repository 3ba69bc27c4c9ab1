// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/direct_rdma.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/carrier/accept_gate.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/setup/admission.h"
#include "transport/rdma/setup/connect_attempt.h"
#include "transport/testing/run_on.h"
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

void DirectRdma::Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                         OnConnect done) {
  OfferConnectOptions offer_options;
  offer_options.connection = options.connection;
  offer_options.timeout = options.timeout;
  ConnectAttempt::Start(host_, control_, loop, {{peer, "", LinkLayer::kUnknown}}, UpgradePass(),
                        std::move(offer_options), nullptr, std::move(done));
}

absl::StatusOr<std::unique_ptr<Listener>> DirectRdma::Listen(LoopGroup& loops,
                                                             const Address& address,
                                                             const ListenOptions& options,
                                                             OnAccept on_accept) {
  return DirectListener::Open(host_, control_, loops, address, options, std::move(on_accept));
}

class DirectListener::Acceptor final : public Admission,
                                       public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(LoopGroup& loops, const ConnectionOptions& options, Transport::OnAccept on_accept)
      : loops_(loops), options_(options), gate_(std::move(on_accept)) {}

  absl::StatusOr<Admitted> Admit(const ConnectData& data, const Address&) override {
    if (data.token != UpgradeToken{}) {
      return NotRdma(WhyNotRdma::kRejected, "no connection awaits this token here");
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
class DirectListener::ListeningPort final : public std::enable_shared_from_this<ListeningPort> {
 public:
  // `acceptor` outlives it.
  ListeningPort(RdmaHost& host, Acceptor& acceptor, PortListener::Where where)
      : host_(host), acceptor_(acceptor), where_(std::move(where)), retry_([this] { Again(); }) {}

  absl::Status Listen() {
    auto opened = PortListener::Open(host_, where_, acceptor_, [weak = weak_from_this()] {
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
  Acceptor& acceptor_;
  PortListener::Where where_;  // with its port, once it had one
  std::unique_ptr<PortListener> port_;
  bool closed_ = false;
  Timer retry_;
};

absl::StatusOr<std::unique_ptr<Listener>> DirectListener::Open(RdmaHost& host, EventLoop& control,
                                                               LoopGroup& loops,
                                                               const Address& address,
                                                               const ListenOptions& options,
                                                               Transport::OnAccept on_accept) {
  auto acceptor = std::make_shared<Acceptor>(loops, options.connection, std::move(on_accept));
  const auto listening_port = std::make_shared<ListeningPort>(
      host, *acceptor,
      PortListener::Where{address, options.backlog, options.connection.traffic_class});
  absl::Status status = Validate(address, options);
  if (status.ok()) {
    RunOn(control, [&] {
      status = Detached(host.Ready());
      if (status.ok()) status = Detached(listening_port->Listen());
    });
  }
  if (!status.ok()) {
    return Annotate(status, absl::StrCat("cannot listen on ", address.ToString(), " over RDMA"));
  }
  const Address bound = listening_port->address();
  return std::unique_ptr<Listener>(
      new DirectListener(control, bound, std::move(acceptor), listening_port));
}

DirectListener::DirectListener(EventLoop& control, Address address,
                               std::shared_ptr<Acceptor> acceptor,
                               std::shared_ptr<ListeningPort> listening_port)
    : control_(control),
      address_(std::move(address)),
      acceptor_(std::move(acceptor)),
      listening_port_(std::move(listening_port)) {}

void DirectListener::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (listening_port_ == nullptr) return;
  acceptor_->Close();
  RunOn(control_, [this] {
    listening_port_->Close();
    listening_port_.reset();
  });
}

}  // namespace farcall
