// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/grpc_echo/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/common/cpu_watch.h"
#include "benchmarks/common/load_recorder.h"
#include "benchmarks/common/open_loop_schedule.h"
#include "benchmarks/grpc_echo/call_slots.h"

namespace farcall::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Channels = std::vector<std::shared_ptr<grpc::Channel>>;

std::chrono::system_clock::time_point In10Seconds() {
  return std::chrono::system_clock::now() + std::chrono::seconds(10);
}

// Channels of one process share a connection unless each has a pool of its own.
std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::StatusOr<Channels> ConnectAll(const LoadOptions& options) {
  Channels channels;
  // One more, for the questions about CPU time.
  for (int i = 0; i <= options.connections; ++i) {
    channels.push_back(NewChannel(options.server));
    channels.back()->GetState(/*try_to_connect=*/true);
  }
  for (const std::shared_ptr<grpc::Channel>& channel : channels) {
    if (!channel->WaitForConnected(In10Seconds())) {
      return absl::UnavailableError(
          absl::StrCat("cannot connect to ", options.server, " within 10 s"));
    }
  }
  return channels;
}

absl::StatusOr<CpuSample> AskUsage(GrpcEcho::Stub& stub, const std::string& address) {
  grpc::ClientContext context;
  context.set_deadline(In10Seconds());
  GrpcUsageResponse response;
  const grpc::Status status = stub.Usage(&context, GrpcUsageRequest(), &response);
  if (!status.ok()) {
    return absl::UnavailableError(
        absl::StrCat(address, " did not tell its CPU time: ", status.error_message()));
  }
  return CpuSample{response.cpu_seconds(), response.clock_seconds()};
}

// Begins the calls of an open loop at their times, until the window is over.
void Pace(std::list<CallSlots>& connections, const LoadWindow& window) {
  while (true) {
    LoadWindow::Time next = window.end;
    for (CallSlots& connection : connections) {
      next = std::min(next, connection.next());
    }
    // While all slots are taken the next call stays due; callbacks begin it.
    const LoadWindow::Time now = Clock::now();
    std::this_thread::sleep_until(std::max(next, now + std::chrono::microseconds(20)));
    if (window.Over(Clock::now())) {
      return;
    }
    for (CallSlots& connection : connections) {
      connection.Begin(Clock::now());
    }
  }
}

// One call after the other, each waited for, until the window is over or one fails.
void CallUntilOver(GrpcEcho::Stub& stub, const GrpcEchoMessage& request, LoadRecorder& recorder) {
  GrpcEchoMessage response;
  for (LoadWindow::Time start = Clock::now(); !recorder.window().Over(start);) {
    grpc::ClientContext context;
    context.set_deadline(In10Seconds());
    const grpc::Status status = stub.Echo(&context, request, &response);
    const LoadWindow::Time end = Clock::now();
    if (!status.ok()) return recorder.Failed(status.error_message());
    recorder.Succeeded(start, end);
    start = end;
  }
}

// The calls of a channel, each of those under way on a thread of its own.
class SynchronousCalls {
 public:
  SynchronousCalls(const std::shared_ptr<grpc::Channel>& channel, const GrpcEchoMessage& request,
                   int in_flight, const LoadWindow& window)
      : stub_(GrpcEcho::NewStub(channel)) {
    for (int i = 0; i < in_flight; ++i) recorders_.emplace_back(window);
    for (LoadRecorder& recorder : recorders_) {
      callers_.emplace_back([&] { CallUntilOver(*stub_, request, recorder); });
    }
  }
  // Waits for the last calls. Once.
  void MergeInto(LoadRecorder& all) {
    for (std::thread& caller : callers_) caller.join();
    for (const LoadRecorder& recorder : recorders_) all.Merge(recorder);
  }

 private:
  const std::unique_ptr<GrpcEcho::Stub> stub_;
  std::list<LoadRecorder> recorders_;
  std::vector<std::thread> callers_;
};

GrpcEchoMessage RequestOf(const LoadOptions& options) {
  GrpcEchoMessage request;
  request.set_message(std::string(options.payload, 'x'));
  if (options.attachment > 0) request.set_attachment(std::string(options.attachment, 'y'));
  return request;
}

}  // namespace

absl::StatusOr<LoadReport> RunGrpcLoad(const LoadOptions& options) {
  const absl::Status valid = options.Validate();
  if (!valid.ok()) return valid;
  if (options.way != "echo") {
    return absl::InvalidArgumentError("--way: gRPC has no memory of the program's own to write to");
  }
  absl::StatusOr<Channels> channels = ConnectAll(options);
  if (!channels.ok()) return channels.status();
  const std::unique_ptr<GrpcEcho::Stub> usage = GrpcEcho::NewStub(channels->back());
  channels->pop_back();

  const GrpcEchoMessage request = RequestOf(options);
  const LoadWindow window = LoadWindow::From(Clock::now(), options);
  std::list<CallSlots> connections;
  std::list<SynchronousCalls> synchronous;
  int number = 0;
  for (const std::shared_ptr<grpc::Channel>& channel : *channels) {
    if (options.synchronous) {
      synchronous.emplace_back(channel, request, options.in_flight, window);
      continue;
    }
    std::optional<OpenLoopSchedule> schedule;
    if (options.rate > 0) {
      schedule.emplace(window.start, options.rate, number++, options.connections);
    }
    connections.emplace_back(channel, request, options.in_flight, window, schedule);
  }
  for (CallSlots& connection : connections) {
    connection.Begin(window.start);
  }
  std::thread pacer;
  if (options.rate > 0) pacer = std::thread([&] { Pace(connections, window); });
  const absl::StatusOr<CpuReadings> cpu =
      WatchCpu(window, [&] { return AskUsage(*usage, options.server); });
  if (pacer.joinable()) pacer.join();
  LoadRecorder all(window);
  for (CallSlots& connection : connections) {
    connection.Drain();
    all.Merge(connection.recorder());
  }
  for (SynchronousCalls& calls : synchronous) calls.MergeInto(all);
  if (!cpu.ok()) return cpu.status();

  LoadReport report = LoadReport::From(options, all);
  report.system = options.synchronous ? "grpc synchronous" : "grpc";
  report.transport = "tcp";
  report.polling = "event";
  if (options.use_rdma) report.why_not_rdma = "gRPC has none";
  cpu->WriteTo(report);
  return report;
}

}  // namespace farcall::bench
