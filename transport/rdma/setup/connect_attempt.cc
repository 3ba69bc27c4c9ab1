// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/connect_attempt.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_options.h"
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

void ConnectAttempt::OnCmEvent(const CmEventInfo& cm_event) {
  switch (cm_event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (state_ != State::kResolvingAddress) break;
      state_ = State::kResolvingRoute;
      return GoOn(ResolveRoute());
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      if (state_ != State::kResolvingRoute) break;
      state_ = State::kConnecting;
      return GoOn(MakePair());
    case RDMA_CM_EVENT_ESTABLISHED: {
      const absl::Status taken = TakeAnswer(cm_event.private_data);
      if (!taken.ok()) return Fail(WhyNotRdma::kRejected, taken);
      if (state_ != State::kConnecting) break;
      return Open();
    }
    case RDMA_CM_EVENT_REJECTED:
      return Fail(WhyNotRdma::kRejected, WhyRejected(cm_event));
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      return Fail(WhyNotRdma::kUnreachable, Describe(cm_event));
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return OnLost(Describe(cm_event));
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_DISCONNECTED:
      break;
    default:  // says nothing about this connection
      return;
  }
  // It broke, or this came out of its turn.
  Fail(WhyNotRdma::kBroken, Describe(cm_event));
}

absl::Status ConnectAttempt::TakeAnswer(const std::string& private_data) {
  auto data = DecodeAcceptData(private_data);
  if (!data.ok()) return data.status();
  if (data->generation != pass_.generation) {
    return absl::InvalidArgumentError("of another generation");
  }
  if (asks_for_answer() && data->answer != pass_.answer) {
    return absl::PermissionDeniedError("who accepted is not who has handed out the token");
  }
  peer_terms_ = data->receives;
  return absl::OkStatus();
}

absl::Status ConnectAttempt::WhyRejected(const CmEventInfo& rejected) const {
  // Nothing listens there, or another program: no data of ours.
  const auto data = DecodeRejectData(rejected.private_data);
  if (!data.ok()) return RejectStatus(rejected.status);
  // What is wrong there, seen from here.
  const char* const colon = data->text.empty() ? "" : ": ";
  return absl::UnavailableError(absl::StrCat(Name(data->why), colon, data->text));
}

absl::Status ConnectAttempt::Describe(const CmEventInfo& cm_event) const {
  const absl::string_view name = host_.parts().api.rdma.event_str(cm_event.type);
  if (cm_event.status >= 0) return absl::UnavailableError(name);
  if (pair_ != nullptr && id_ == nullptr) return SetUpError(pair_->end(), -cm_event.status);
  return Annotate(ErrnoStatus(-cm_event.status), name);
}

void ConnectAttempt::OnEnrolled(const absl::Status& status) {
  if (!status.ok()) return Fail(WhyNotRdma::kDeviceRefused, status);
  const int error = Connect();
  if (error == 0) return;
  // Trying another port takes the pair.
  const absl::Status why = SetUpError(pair_->end(), error);
  if (TcpHasPort(error) && TryOtherPort()) return;
  Fail(WhyNotRdma::kDeviceRefused, why);
}

// That a device goes away is not the fault of a way.
void ConnectAttempt::OnLost(const absl::Status& why) {
  if (state_ != State::kOver) TryNextWay(WhyNotRdma::kBroken, why);
}

void ConnectAttempt::Cancel() {
  if (state_ == State::kOver) return;
  state_ = State::kOver;
  Release();
  Finish(absl::CancelledError("given up"));
}

// `step`: the next one, as far as a call here says.
void ConnectAttempt::GoOn(const absl::Status& step) {
  if (step.ok() || (ReasonOf(step) == WhyNotRdma::kDeviceExcluded && TryOtherSource())) return;
  Fail(WhyNotRdma::kDeviceRefused, step);
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
  const auto self = shared_from_this();
  state_ = State::kOver;
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
  if (state_ == State::kOver) return;
  Blame();
  TryNextWay(why, detail);
}

void ConnectAttempt::TryNextWay(WhyNotRdma why, const absl::Status& detail) {
  // Finish may drop the last reference but for this one.
  const auto self = shared_from_this();
  state_ = State::kOver;
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
  state_ = State::kOver;
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
