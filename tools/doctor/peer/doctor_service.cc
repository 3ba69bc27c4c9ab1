// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/doctor_service.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rpc/version.h"
#include "tools/doctor/peer/every_way.h"

namespace farcall::doctor {
namespace {

std::string NewInstance() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
}

void ToProto(const ComparisonRow& row, MeasureResponse::Row& told) {
  told.set_what(row.what);
  told.set_rail(row.rail);
  told.set_by(row.by);
  told.set_trouble(row.trouble);
  told.set_p50_us(row.p50_us);
  told.set_p99_us(row.p99_us);
  told.set_bytes_per_second(row.bytes_per_second);
}

}  // namespace

DoctorService::RawSession::RawSession(std::unique_ptr<RawListener> listener)
    : listener_(std::move(listener)), thread_([this] {
        // What breaks is seen at the other end.
        static_cast<void>(listener_->Serve(kRawLimits, stop_));
        ended_ = true;
      }) {}

DoctorService::RawSession::~RawSession() {
  stop_ = true;
  thread_.join();
}

DoctorService::DoctorService(Introduction introduction, const VerbsApi* api)
    : introduction_(std::move(introduction)), api_(api), instance_(NewInstance()) {}

DoctorService::~DoctorService() = default;

void DoctorService::Greet(google::protobuf::RpcController*, const GreetRequest*,
                          GreetResponse* response, google::protobuf::Closure* done) {
  const ClosureGuard answer(done);
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) response->set_host(host.data());
  if (!introduction_.name.empty()) response->set_host(introduction_.name);
  response->set_version(std::string(Version()));
  response->set_summary(introduction_.summary);
  for (const std::string& address : introduction_.addresses) {
    response->add_rdma_addresses(address);
  }
  response->set_rdma_trouble(introduction_.trouble);
  for (const Network& network : introduction_.networks) *response->add_networks() = network;
  response->set_instance(instance_);
}

void DoctorService::Echo(google::protobuf::RpcController* rpc_controller,
                         const EchoRequest* request, EchoResponse*,
                         google::protobuf::Closure* done) {
  const ClosureGuard answer(done);
  auto& controller = static_cast<Controller&>(*rpc_controller);
  if (request->keep()) return;
  controller.response_attachment() = std::move(controller.request_attachment());
}

void DoctorService::Count(google::protobuf::RpcController*, const CountRequest*,
                          CountResponse* response, google::protobuf::Closure* done) {
  const ClosureGuard answer(done);
  if (introduction_.count) *response = introduction_.count();
}

void DoctorService::Raw(google::protobuf::RpcController* rpc_controller, const RawRequest* request,
                        RawResponse* response, google::protobuf::Closure* done) {
  const ClosureGuard answer(done);
  auto& controller = static_cast<Controller&>(*rpc_controller);
  const auto& known = introduction_.addresses;
  if (api_ == nullptr) {
    return controller.SetFailed(EINVAL, "the RDMA libraries do not load there");
  }
  if (std::find(known.begin(), known.end(), request->address()) == known.end()) {
    return controller.SetFailed(EINVAL,
                                absl::StrCat(request->address(), " is no RDMA address here"));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  // A listener that nobody has reached, as on an address that is not routed, gives way.
  if (raw_ != nullptr && raw_->IsBusy()) {
    return controller.SetFailed(EBUSY, "another raw connection is open");
  }
  raw_.reset();
  const auto address = IpWithPort(request->address(), 0);
  if (!address.ok()) return controller.SetFailed(EINVAL, address.status().message());
  auto listener = RawListener::Create(*api_, *address);
  if (!listener.ok()) return controller.SetFailed(EIO, listener.status().message());
  response->set_port((*listener)->port());
  raw_ = std::make_unique<RawSession>(*std::move(listener));
}

void DoctorService::Begin(Controller& controller, google::protobuf::Closure* done,
                          std::function<void(const std::atomic<bool>&)> work) {
  ClosureGuard answer(done);
  if (!introduction_.others.has_value()) {
    return controller.SetFailed(EPERM,
                                "this doctor only answers: it was started without --measure");
  }
  const bool begun = work_.Start([done, work = std::move(work)](const std::atomic<bool>& stop) {
    work(stop);
    return [done] { done->Run(); };
  });
  if (!begun) return controller.SetFailed(EBUSY, "this doctor measures for another, one at a time");
  static_cast<void>(answer.release());
}

void DoctorService::Report(google::protobuf::RpcController* rpc_controller, const ReportRequest*,
                           ReportResponse* response, google::protobuf::Closure* done) {
  Begin(static_cast<Controller&>(*rpc_controller), done, [this, response](const auto&) {
    if (introduction_.report) *response = introduction_.report();
  });
}

absl::StatusOr<Address> DoctorService::Allowed(const MeasureRequest& request) const {
  if (!(request.seconds() > 0 && request.seconds() <= kMaxSeconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a doctor measures for others ", kMaxSeconds, " s a number at most"));
  }
  const uint16_t port = port_;
  std::vector<std::string> words = {request.address()};
  for (const std::string& ip : request.addresses()) {
    const auto address = IpWithPort(ip, port);
    words.push_back(address.ok() ? address->ToString() : ip);
  }
  if (words.size() > kMaxWays) return absl::InvalidArgumentError("too many addresses");
  for (const std::string& word : words) {
    const std::string shown = absl::Utf8SafeCHexEscape(word);
    const auto address = Address::Parse(word);
    if (!address.ok()) return absl::InvalidArgumentError(shown + " is no address");
    if (!introduction_.others.has_value() || !introduction_.others->Contains(*address)) {
      return absl::PermissionDeniedError(
          absl::StrCat(shown, " is not in the networks of this doctor's --measure"));
    }
    if (address->port() != port) {
      return absl::PermissionDeniedError(absl::StrCat(shown, ": only doctors on port ", port,
                                                      ", as this one, are measured against"));
    }
  }
  return Address::Parse(request.address());
}

void DoctorService::Measure(google::protobuf::RpcController* rpc_controller,
                            const MeasureRequest* request, MeasureResponse* response,
                            google::protobuf::Closure* done) {
  auto& controller = static_cast<Controller&>(*rpc_controller);
  Begin(controller, done, [=, this, &controller](const std::atomic<bool>& stop) {
    const auto server = Allowed(*request);
    if (!server.ok()) return controller.SetFailed(EPERM, server.status().message());
    const std::chrono::duration<double> seconds(request->seconds());
    const EveryWay ways{*server,
                        {request->addresses().begin(), request->addresses().end()},
                        introduction_.networks,
                        *introduction_.others,
                        api_,
                        std::chrono::duration_cast<Duration>(seconds)};
    const auto rows = MeasureEveryWay(ways, stop);
    if (!rows.ok()) return controller.SetFailed(EIO, rows.status().message());
    for (const ComparisonRow& row : *rows) ToProto(row, *response->add_rows());
  });
}

}  // namespace farcall::doctor
