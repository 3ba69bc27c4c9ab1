// SPDX-License-Identifier: Apache-2.0
//
// When an attempt begins, and which way it tries.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_endpoint.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/cm/port_endpoint.h"
#include "transport/rdma/setup/connect_attempt.h"
#include "transport/sockaddr.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

int Milliseconds(Duration duration) {
  return static_cast<int>(
      std::chrono::ceil<std::chrono::milliseconds>(std::max(duration, Duration(1))).count());
}

}  // namespace

void ConnectAttempt::Begin() {
  if (state_ == State::kOver) return;
  const absl::Status ready = host_.Ready();
  if (!ready.ok()) return Finish(ready);
  if (!host_.Keep(shared_from_this(), /*incoming=*/false)) {
    return Finish(absl::CancelledError("this process is ending"));
  }
  if (host_.TakeTurn(*this)) return TryWay();
  // The other half of the time is for connecting.
  in_line_ = true;
  control_.SetTimer(timer_, control_.now() + (deadline_ - control_.now()) / 2);
}

void ConnectAttempt::OnTurn() {
  const auto self = shared_from_this();
  in_line_ = false;
  control_.CancelTimer(timer_);
  TryWay();
}

void ConnectAttempt::OnTime() {
  const auto self = shared_from_this();
  if (!in_line_) {
    return Fail(WhyNotRdma::kTimedOut, absl::DeadlineExceededError("no answer in time"));
  }
  Finish(NotRdma(WhyNotRdma::kCapacity, "too many other connections are being made here"));
}

// From ways_[next_] on, until one can be waited for.
void ConnectAttempt::TryWay() {
  if (next_ == 0) ways_ = WaysTo(host_, loop_, addresses_, options_);
  for (; next_ < ways_.size(); ++next_) {
    const TimePoint now = control_.now();
    if (now >= deadline_) break;
    state_ = State::kResolvingAddress;
    source_ = way().source;
    if (way().port) hold_ = PortHold(host_.port_counts(), *way().port);
    const bool over_tcp = way().local.has_value();
    const absl::Status started = over_tcp ? TakePort(*way().local, *place().port) : Resolve();
    if (started.ok()) {
      const auto left = static_cast<Duration::rep>(ways_.size() - next_);
      control_.SetTimer(timer_, now + (deadline_ - now) / left);
      if (over_tcp) {
        state_ = State::kConnecting;
        GoOn(MakePair());
      }
      return;
    }
    Blame();
    error_ =
        NotRdma(WhyNotRdma::kUnreachable, absl::StrCat(peer().ToString(), ": ", started.message()));
    Release();
  }
  Finish(error_.ok() ? WhyNoWay() : error_);
}

absl::Status ConnectAttempt::WhyNoWay() const {
  const std::string name = addresses_[0].address.ToString();
  if (!ways_.empty()) return NotRdma(WhyNotRdma::kTimedOut, name);
  if (options_.apart && !options_.rails.empty()) {
    return absl::AlreadyExistsError("no port is left that no rail uses, at this end or the other");
  }
  if (host_.parts().options.set_up == RdmaSetUp::kOverTcp &&
      std::none_of(addresses_.begin(), addresses_.end(),
                   [](const UpgradeAddress& address) { return address.port.has_value(); })) {
    return NotRdma(WhyNotRdma::kUnreachable,
                   absl::StrCat(name, ": RdmaOptions.set_up allows no rdma_cm"));
  }
  return NotRdma(WhyNotRdma::kUnreachable,
                 absl::StrCat(name,
                              ": no port of this host is of the same kind, with a GID that "
                              "reaches it"));
}

absl::Status ConnectAttempt::TakePort(const LocalPort& local, const FabricPort& to) {
  end_ = std::make_unique<PortEndpoint>(host_.parts(), local, to, line_);
  end_->SetHandler(*this);
  return end_->SetTrafficClass(options_.connection.traffic_class);
}

absl::Status ConnectAttempt::Resolve() {
  const RdmaParts& parts = host_.parts();
  auto id = CreateCmId(parts.api, host_.channel(), static_cast<CmHandler*>(this));
  if (!id.ok()) return id.status();
  auto end = std::make_unique<CmEndpoint>(parts, *std::move(id));
  id_ = end->id();
  end_ = std::move(end);
  const absl::Status set = end_->SetTrafficClass(options_.connection.traffic_class);
  if (!set.ok()) return set;
  auto address = ToSocketAddress(peer());
  if (!address.ok()) return address.status();
  SocketAddress source;
  if (source_) source = *ToSocketAddress(*source_);
  if (parts.api.rdma.resolve_addr(id_, source_ ? source.get() : nullptr, address->get(),
                                  Milliseconds(parts.options.connect_timeout)) == 0) {
    return absl::OkStatus();
  }
  return Annotate(ErrnoStatus(errno), "rdma_resolve_addr");
}

absl::Status ConnectAttempt::ResolveRoute() {
  const auto use = host_.UseOf(id_->verbs);
  if (!use.ok()) return use.status();
  const RdmaParts& parts = host_.parts();
  if (parts.api.rdma.resolve_route(id_, Milliseconds(parts.options.connect_timeout)) == 0) {
    return absl::OkStatus();
  }
  return NotRdma(WhyNotRdma::kUnreachable,
                 Annotate(ErrnoStatus(errno), "rdma_resolve_route").message());
}

// True: that is being tried.
bool ConnectAttempt::TryOtherPort() { return ++port_tries_ < kPortTries && StartAgain(); }

// By an id of its own, to which the kernel gives a port.
bool ConnectAttempt::StartAgain() {
  state_ = State::kOver;  // that the former pair is lost means nothing
  Release();
  state_ = State::kResolvingAddress;
  return Resolve().ok();
}

// Where none was chosen the kernel takes the source address that its routes say; another may lead
// to a device that is not excluded. True: that is being tried.
bool ConnectAttempt::TryOtherSource() {
  if (way().source) return false;
  if (!std::exchange(asked_for_sources_, true)) {
    const auto addresses = host_.view().addresses();
    for (const LocalIp& local : addresses.value_or(std::vector<LocalIp>())) {
      if (local.address.family() == peer().family()) sources_.push_back(local.address);
    }
  }
  while (!sources_.empty()) {
    source_ = sources_.back();
    sources_.pop_back();
    if (StartAgain()) return true;
  }
  return false;
}

}  // namespace farcall
