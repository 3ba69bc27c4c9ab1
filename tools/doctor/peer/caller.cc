// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/caller.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/common/call_load.h"
#include "benchmarks/common/figures/call_tally.h"
#include "benchmarks/common/load_run.h"
#include "rpc/runtime/settled_connection.h"
#include "transport/buffer/registered_memory.h"

namespace farcall::doctor {
namespace {

using bench::CallLoad;
using bench::CallTally;

constexpr std::chrono::seconds kTimeout{5};
// Setting up registers memory, which takes its time on slow hosts.
constexpr std::chrono::seconds kSettle{10};

// An attachment, again and again.
class EchoCall final : public CallLoad::Slot, public google::protobuf::Closure {
 public:
  EchoCall(Channel& channel, const RegisteredMemory& memory, bool keep, CallTally& tally)
      : stub_(&channel), memory_(memory), tally_(tally) {
    request_.set_keep(keep);
  }

  void Begin(CallLoad& load) override {
    load_ = &load;
    controller_.Reset();
    controller_.request_attachment().Append(memory_.Slice(0, memory_.size()));
    stub_.Echo(&controller_, &request_, &response_, this);
  }
  void Run() override {
    load_->OnEnd(*this, tally_, controller_.ErrorCode(), controller_.ErrorText());
  }

 private:
  Doctor_Stub stub_;
  const RegisteredMemory& memory_;
  CallTally& tally_;
  CallLoad* load_ = nullptr;
  Controller controller_;
  EchoRequest request_;
  EchoResponse response_;
};

struct Outcome {
  bench::CallCounts counts;
  double seconds = 0;
};

absl::StatusOr<Outcome> Load(Runtime& runtime, Channel& channel, size_t bytes, int slots, bool keep,
                             Duration how_long) {
  auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  // The memory lives until the library has let go of it.
  auto registered = runtime.RegisterMemory(*memory, [memory] {});
  if (!registered.ok()) return registered.status();
  bench::LoadPlan plan;
  plan.slots = slots;
  plan.measured = how_long;
  plan.make = [&](int, std::span<CallTally> tallies) {
    return std::make_unique<EchoCall>(channel, *registered, keep, tallies.front());
  };
  bench::LoadOutcome outcome = RunLoad(plan);
  bench::CallCounts& counts = outcome.kinds.front();
  if (counts.failed() > 0) {
    const auto& [code, failures] = *counts.errors.begin();
    return absl::UnavailableError(
        absl::StrCat(counts.failed(), " calls failed: ", code, ", ", failures.first_text));
  }
  if (counts.latency.count() == 0) return absl::UnavailableError("no call ended in time");
  return Outcome{std::move(counts), outcome.measured.count()};
}

int64_t Millis(Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// A call that may take `limit`. Errors say what the call's error says.
template <typename Request, typename Response>
absl::StatusOr<Response> Call(Channel& channel,
                              void (Doctor_Stub::*method)(google::protobuf::RpcController*,
                                                          const Request*, Response*,
                                                          google::protobuf::Closure*),
                              const Request& request, Duration limit = kTimeout) {
  Doctor_Stub stub(&channel);
  Controller controller;
  controller.set_timeout_ms(Millis(limit));
  Response response;
  (stub.*method)(&controller, &request, &response, nullptr);
  if (!controller.Failed()) return response;
  return absl::UnavailableError(absl::Utf8SafeCHexEscape(controller.ErrorText()));
}

}  // namespace

bool MayPass(absl::string_view reason) {
  return reason == "pending" || reason == "peer_silent" || reason == "timed_out";
}

absl::StatusOr<std::unique_ptr<Runtime>> QuietRuntime(std::vector<std::string> devices) {
  RuntimeOptions options;
  options.event_loops = 1;
  options.rdma.devices = std::move(devices);
  options.log = [](LogSeverity, absl::string_view) {};
  return Runtime::Create(options);
}

absl::StatusOr<std::unique_ptr<Caller>> Caller::Connect(Runtime& runtime, const std::string& server,
                                                        bool use_rdma) {
  ChannelOptions options;
  options.runtime = &runtime;
  options.timeout_ms = Millis(kTimeout);
  options.connect_timeout_ms = Millis(kTimeout);
  options.max_retry = 0;
  options.use_rdma = use_rdma;
  auto channel = Channel::Create(server, options);
  if (!channel.ok()) return channel.status();
  std::unique_ptr<Caller> caller(new Caller(runtime, server, *std::move(channel)));
  if (absl::Status status = caller->Settle(); !status.ok()) return status;
  return caller;
}

absl::Status Caller::Settle() {
  Doctor_Stub stub(channel_.get());
  return SettledConnection(
             [&stub](Controller& controller) {
               const EchoRequest request;
               EchoResponse response;
               stub.Echo(&controller, &request, &response, nullptr);
             },
             kSettle)
      .status();
}

std::shared_ptr<const ConnectionInfo> Caller::Look() {
  Doctor_Stub stub(channel_.get());
  Controller controller;
  const EchoRequest request;
  EchoResponse response;
  stub.Echo(&controller, &request, &response, nullptr);
  return controller.connection();
}

absl::StatusOr<GreetResponse> Caller::Greet() {
  auto told = Call(*channel_, &Doctor_Stub::Greet, GreetRequest());
  if (told.ok()) return told;
  return absl::UnavailableError(
      absl::StrCat(server_, " does not answer as a doctor: ", told.status().message()));
}

absl::StatusOr<CountResponse> Caller::Count() {
  return Call(*channel_, &Doctor_Stub::Count, CountRequest());
}

absl::StatusOr<ReportResponse> Caller::Report(Duration limit) {
  return Call(*channel_, &Doctor_Stub::Report, ReportRequest(), limit);
}

absl::StatusOr<MeasureResponse> Caller::Measure(const MeasureRequest& request, Duration limit) {
  return Call(*channel_, &Doctor_Stub::Measure, request, limit);
}

absl::StatusOr<uint16_t> Caller::AskForRaw(const std::string& address) {
  RawRequest request;
  request.set_address(address);
  const auto response = Call(*channel_, &Doctor_Stub::Raw, request);
  if (!response.ok()) return response.status();
  return static_cast<uint16_t>(response->port());
}

absl::StatusOr<bench::LatencyHistogram> Caller::Ping(Duration how_long) {
  auto outcome = Load(runtime_, *channel_, kPingBytes, 1, /*keep=*/false, how_long);
  if (!outcome.ok()) return outcome.status();
  return std::move(outcome->counts.latency);
}

absl::StatusOr<double> Caller::Stream(Duration how_long) {
  auto outcome = Load(runtime_, *channel_, kStreamBytes, kStreamCalls, /*keep=*/true, how_long);
  if (!outcome.ok()) return outcome.status();
  return static_cast<double>(outcome->counts.latency.count()) * kStreamBytes / outcome->seconds;
}

}  // namespace farcall::doctor
