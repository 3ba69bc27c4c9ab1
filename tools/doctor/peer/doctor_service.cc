// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/doctor_service.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/version.h"

namespace farcall::doctor {

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

DoctorService::~DoctorService() = default;

void DoctorService::Greet(google::protobuf::RpcController*, const GreetRequest*,
                          GreetResponse* response, google::protobuf::Closure* done) {
  const ClosureGuard answer(done);
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) response->set_host(host.data());
  response->set_version(std::string(Version()));
  response->set_summary(introduction_.summary);
  for (const std::string& address : introduction_.addresses) {
    response->add_rdma_addresses(address);
  }
  response->set_rdma_trouble(introduction_.trouble);
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
  const bool v6 = absl::StrContains(request->address(), ":");
  const auto address = Address::Parse(v6 ? absl::StrCat("[", request->address(), "]:0")
                                         : absl::StrCat(request->address(), ":0"));
  if (!address.ok()) return controller.SetFailed(EINVAL, address.status().message());
  auto listener = RawListener::Create(*api_, *address);
  if (!listener.ok()) return controller.SetFailed(EIO, listener.status().message());
  response->set_port((*listener)->port());
  raw_ = std::make_unique<RawSession>(*std::move(listener));
}

}  // namespace farcall::doctor
