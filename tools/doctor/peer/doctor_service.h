// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVICE_H_
#define FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVICE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rpc/closure.h"
#include "rpc/controller.h"
#include "tools/doctor/peer/doctor.pb.h"
#include "tools/doctor/peer/networks.h"
#include "tools/doctor/peer/one_at_a_time.h"
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
  std::string name{};                // in tables; "": the host's
  std::vector<Network> networks{};   // of its RDMA devices, and those beside a pod's default one
  std::optional<Networks> others{};  // doctors here may be measured against; nullopt: none
  // Looks at this host anew, which takes seconds; on a thread of its own. With `others`.
  std::function<ReportResponse()> report{};
};

// Handlers may be called by several threads at once.
class DoctorService final : public Doctor {
 public:
  // `api`: null where the libraries do not load; outlives this.
  DoctorService(Introduction introduction, const VerbsApi* api);
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
  void Report(google::protobuf::RpcController* controller, const ReportRequest* request,
              ReportResponse* response, google::protobuf::Closure* done) override;
  void Measure(google::protobuf::RpcController* controller, const MeasureRequest* request,
               MeasureResponse* response, google::protobuf::Closure* done) override;

  // Doctors on this port only are measured against, so that nobody is led to another service; 0:
  // none, until it is told.
  void set_port(uint16_t port) { port_ = port; }

  // That others may ask for, for each number.
  static constexpr double kMaxSeconds = 10;

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

  // What it does for others is refused, begun, or waits for nothing.
  void Begin(Controller& controller, google::protobuf::Closure* done,
             std::function<void(const std::atomic<bool>&)> work);
  absl::StatusOr<Address> Allowed(const MeasureRequest& request) const;

  const Introduction introduction_;
  const VerbsApi* const api_;
  const std::string instance_;
  std::atomic<uint16_t> port_{0};

  std::mutex mutex_;
  // Guarded by mutex_: one raw connection at a time.
  std::unique_ptr<RawSession> raw_;

  // The last: its work ends first.
  OneAtATime work_;
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVICE_H_
