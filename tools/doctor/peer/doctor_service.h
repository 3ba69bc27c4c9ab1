// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVICE_H_
#define FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVICE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rpc/closure.h"
#include "rpc/controller.h"
#include "tools/doctor/peer/doctor.pb.h"
#include "tools/doctor/raw/raw_ends.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::doctor {

// What this host tells of itself.
struct Introduction {
  std::string summary;
  std::vector<std::string> addresses;  // of RDMA devices, without port
  std::string trouble;                 // why there is no RDMA; "": there is
  // Asks the adapters; may be null: there are none. Called by the thread of a handler.
  std::function<CountResponse()> count{};
};

// Handlers may be called by several threads at once.
class DoctorService final : public Doctor {
 public:
  // `api`: null where the libraries do not load; outlives this.
  DoctorService(Introduction introduction, const VerbsApi* api)
      : introduction_(std::move(introduction)), api_(api) {}
  // Ends the raw connection that is open.
  ~DoctorService() override;

  void Greet(google::protobuf::RpcController* controller, const GreetRequest* request,
             GreetResponse* response, google::protobuf::Closure* done) override;
  void Echo(google::protobuf::RpcController* controller, const EchoRequest* request,
            EchoResponse* response, google::protobuf::Closure* done) override;
  void Count(google::protobuf::RpcController* controller, const CountRequest* request,
             CountResponse* response, google::protobuf::Closure* done) override;
  void Raw(google::protobuf::RpcController* controller, const RawRequest* request,
           RawResponse* response, google::protobuf::Closure* done) override;

  // A session has two measurements of --seconds, which is 600 at most.
  static constexpr RawLimits kRawLimits{std::chrono::seconds(10), std::chrono::minutes(25)};

 private:
  // One listener and the thread that serves its client.
  class RawSession {
   public:
    explicit RawSession(std::unique_ptr<RawListener> listener);
    // Ends it, within 100 ms or what the driver takes.
    ~RawSession();
    bool IsBusy() const { return listener_->has_client() && !ended_; }

   private:
    const std::unique_ptr<RawListener> listener_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> ended_{false};
    std::thread thread_;
  };

  const Introduction introduction_;
  const VerbsApi* const api_;

  std::mutex mutex_;
  // Guarded by mutex_: one raw connection at a time.
  std::unique_ptr<RawSession> raw_;
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVICE_H_
