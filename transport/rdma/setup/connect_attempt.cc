// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/connect_attempt.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_events.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/cm/cm_ports.h"
#include "transport/rdma/setup/set_up_error.h"
#include "transport/sockaddr.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

absl::Status Validate(const std::vector<UpgradeAddress>& addresses,
                      const OfferConnectOptions& options) {
  if (options.timeout <= Duration::zero()) {
    return absl::InvalidArgumentError("the timeout of a connect must be above 0");
  }
  if (addresses.empty()) return absl::InvalidArgumentError("there is no address to connect to");
  for (const UpgradeAddress& address : addresses) {
    if (address.port) continue;
    const auto valid = ToSocketAddress(address.address);
    if (!valid.ok()) return valid.status();
    if (address.address.family() == AddressFamily::kUnix) {
      return NotRdma(WhyNotRdma::kNotForThisAddress, address.address.ToString());
    }
  }
  return options.connection.Validate();
}

}  // namespace

std::shared_ptr<ConnectAttempt> ConnectAttempt::Start(
    RdmaHost& host, EventLoop& control, EventLoop& loop, std::vector<UpgradeAddress> addresses,
    const UpgradePass& pass, OfferConnectOptions options, UpgradeTransport::SendSetUp send,
    Transport::OnConnect done) {
  Check(loop.held(), "who connects holds the loop");
  absl::Status valid = Validate(addresses, options);
  std::shared_ptr<ConnectAttempt> attempt(
      new ConnectAttempt(host, control, loop, std::move(addresses), pass, std::move(options),
                         std::move(send), std::move(done)));
  if (valid.ok()) {
    control.Post([attempt] { attempt->Begin(); });
  } else {
    attempt->Complete(valid);
  }
  return attempt;
}

ConnectAttempt::ConnectAttempt(RdmaHost& host, EventLoop& control, EventLoop& loop,
                               std::vector<UpgradeAddress> addresses, const UpgradePass& pass,
                               OfferConnectOptions options, UpgradeTransport::SendSetUp send,
                               Transport::OnConnect done)
    : host_(host),
      control_(control),
      loop_(loop),
      addresses_(std::move(addresses)),
      pass_(pass),
      options_(std::move(options)),
      deadline_(loop.now() + options_.timeout),
      line_(std::make_shared<SetUpLine>(control, loop, std::move(send))),
      done_(std::move(done)),
      timer_([this] { OnTime(); }) {}

ConnectAttempt::~ConnectAttempt() {
  Check(end_ == nullptr && pair_ == nullptr, "an attempt ends before it dies");
}

void ConnectAttempt::GiveUp() {
  // Before it hears of the hang-up, which would be a failure of this way.
  if (std::exchange(done_, nullptr) != nullptr) {
    control_.Post([self = shared_from_this()] { self->Cancel(); });
  }
  line_->HangUp();
}

void ConnectAttempt::OnSetUpEvent(const CmEventInfo& cm_event) {
  const std::optional<ConnectEvent> event = ConnectEventOf(cm_event.type);
  if (!event) return;
  if (*event == ConnectEvent::kEstablished) {
    auto data = DecodeAcceptData(cm_event.private_data);
    if (!data.ok()) return Step(ConnectEvent::kBadAnswer, data.status());
    if (data->generation != pass_.generation) {
      return Step(ConnectEvent::kBadAnswer, absl::InvalidArgumentError("of another generation"));
    }
    if (asks_for_answer() && data->answer != pass_.answer) {
      return Step(ConnectEvent::kBadAnswer,
                  absl::PermissionDeniedError("who accepted is not who has handed out the token"));
    }
    peer_terms_ = data->receives;
  }
  if (*event == ConnectEvent::kRejected) {
    // Nothing listens there, or another program: no data of ours.
    const auto data = DecodeRejectData(cm_event.private_data);
    if (!data.ok()) return Step(*event, RejectStatus(cm_event.status));
    // What is wrong there, seen from here.
    const char* const colon = data->text.empty() ? "" : ": ";
    return Step(*event, absl::UnavailableError(absl::StrCat(Name(data->why), colon, data->text)));
  }
  const absl::string_view name = host_.parts().api.rdma.event_str(cm_event.type);
  if (cm_event.status < 0 && pair_ != nullptr && id_ == nullptr) {
    return Step(*event, SetUpError(pair_->end(), -cm_event.status));
  }
  Step(*event, cm_event.status < 0 ? Annotate(ErrnoStatus(-cm_event.status), name)
                                   : absl::UnavailableError(name));
}

void ConnectAttempt::OnEnrolled(const absl::Status& status) {
  if (!status.ok()) return Step(ConnectEvent::kSetUpFailed, status);
  const int error = Connect();
  if (error == 0 || (TcpHasPort(error) && TryOtherPort())) return;
  Step(ConnectEvent::kSetUpFailed, SetUpError(pair_->end(), error));
}

void ConnectAttempt::OnLost(const absl::Status& why) { Step(ConnectEvent::kDeviceRemoved, why); }

void ConnectAttempt::Step(ConnectEvent event, const absl::Status& detail) {
  // Finish may drop the last reference but for this one.
  const auto self = shared_from_this();
  const ConnectStep step = Advance(state_, event);
  state_ = step.next;
  switch (step.action) {
    case ConnectAction::kNone:
      return;
    case ConnectAction::kResolveRoute:
    case ConnectAction::kConnect: {
      const absl::Status done =
          step.action == ConnectAction::kConnect ? MakePair() : ResolveRoute();
      if (!done.ok() && !(ReasonOf(done) == WhyNotRdma::kDeviceExcluded && TryOtherSource())) {
        Step(ConnectEvent::kSetUpFailed, done);
      }
      return;
    }
    case ConnectAction::kOpen:
      return Open();
    case ConnectAction::kFail:
      if (event != ConnectEvent::kDeviceRemoved) Blame();
      return Fail(step.why, detail);
    case ConnectAction::kClose:  // an open pair gets its own events
      return;
    case ConnectAction::kDrop:
      Release();
      return Finish(absl::CancelledError("given up"));
  }
}

absl::Status ConnectAttempt::MakePair() {
  const auto use = host_.UseOf(end_->context());
  if (!use.ok()) return use.status();
  auto pair = (*use)->CreatePair(loop_, end_, *this);
  if (!pair.ok()) return pair.status();
  pair_ = *std::move(pair);
  hold_.Release();
  pair_->Enroll(std::nullopt);
  return absl::OkStatus();
}

// 0, or an errno.
int ConnectAttempt::Connect() {
  ConnectData data;
  data.token = pass_.token;
  data.generation = pass_.generation;
  data.receives = pair_->terms();
  const auto bytes = EncodeConnectData(data);
  rdma_conn_param param =
      ConnectParameters(host_.parts().options, bytes, data.receives.windows, data.receives.reads);
  return pair_->end().Connect(param);
}

void ConnectAttempt::Open() {
  control_.CancelTimer(timer_);
  auto pair = std::move(pair_);
  ConnectionInfo info;
  info.local = pair->end().local();
  info.peer = peer();
  info.device_why = way().why;
  info.peer_device = way().to.device;
  info.fabric = way().fabric;
  host_.past_failures().OnWorks(way().from ? &*way().from : nullptr, way().to);
  // Of rdma_cm's set-up packets have come both ways.
  if (way().local) {
    pair->WhenUnheard([&host = host_, from = *way().from, to = way().to] {
      host.past_failures().Add(&from, to, host.parts().control.now());
    });
  }
  line_->SetEnd(nullptr);
  pair->Open(peer_terms_, options_.connection, std::move(info),
             [self = shared_from_this()](std::unique_ptr<Connection> connection) {
               if (self->done_ == nullptr) return;
               std::exchange(self->done_, nullptr)(std::move(connection));
             });
  host_.Drop(*this);
}

// Others are to be tried before it next time. Behind one that was rejected the token is void.
void ConnectAttempt::Blame() {
  if (ReasonOf(error_) == WhyNotRdma::kRejected) return;
  host_.past_failures().Add(way().from ? &*way().from : nullptr, way().to, control_.now());
}

void ConnectAttempt::Fail(WhyNotRdma why, const absl::Status& detail) {
  // The reason may be known better where it failed.
  const absl::Status known = CarriesReason(detail) ? detail : NotRdma(why, detail.message());
  // Behind one that has rejected the token others only say that it was shown.
  if (error_.ok() || ReasonOf(error_) != WhyNotRdma::kRejected) {
    error_ = AddDetail(known, peer().ToString());
  }
  Release();
  ++next_;
  port_tries_ = 0;
  asked_for_sources_ = false;
  sources_.clear();
  TryWay();
}

void ConnectAttempt::Release() {
  if (pair_ != nullptr) {
    std::exchange(pair_, nullptr)
        ->Retire(QueuePair::Ending::kDrain, absl::CancelledError("not connected"));
  }
  hold_.Release();
  end_.reset();
  id_ = nullptr;
}

void ConnectAttempt::Finish(const absl::Status& status) {
  state_ = ConnectState::kFailed;
  control_.CancelTimer(timer_);
  Complete(Annotate(
      status, absl::StrCat("cannot connect to ", addresses_[0].address.ToString(), " over RDMA")));
  host_.Drop(*this);
}

void ConnectAttempt::Complete(const absl::Status& status) {
  loop_.Post([self = shared_from_this(), status = Detached(status)] {
    if (self->done_ != nullptr) std::exchange(self->done_, nullptr)(status);
  });
}

}  // namespace farcall
