// SPDX-License-Identifier: Apache-2.0
//
// Calls of the library's own to a doctor that serves, measured.

#ifndef FARCALL_TOOLS_DOCTOR_PEER_CALLER_H_
#define FARCALL_TOOLS_DOCTOR_PEER_CALLER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/common/figures/latency_histogram.h"
#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"
#include "tools/doctor/peer/doctor.pb.h"
#include "transport/base/time.h"
#include "transport/connection_info.h"

namespace farcall::doctor {

// A runtime whose log goes nowhere: what it would say is in the findings. `devices`: as
// RdmaOptions::devices.
absl::StatusOr<std::unique_ptr<Runtime>> QuietRuntime(std::vector<std::string> devices);

// What a busy host may be too slow for at first, and may do when it is tried again; and how often
// it is tried.
bool MayPass(absl::string_view reason);
inline constexpr int kTries = 3;

class Caller {
 public:
  // Bytes of a ping, and of what is streamed: with each call, beside the message.
  static constexpr size_t kPingBytes = 64;
  static constexpr size_t kStreamBytes = 1 << 20;
  static constexpr int kStreamCalls = 4;  // under way at once

  // Reaches the server and, with `use_rdma`, waits until RDMA carries calls or is known not to.
  static absl::StatusOr<std::unique_ptr<Caller>> Connect(Runtime& runtime,
                                                         const std::string& server, bool use_rdma);

  absl::StatusOr<GreetResponse> Greet();
  absl::StatusOr<CountResponse> Count();
  // What takes its time there: it may take `limit`. Errors are the server's own words.
  absl::StatusOr<ReportResponse> Report(Duration limit);
  absl::StatusOr<MeasureResponse> Measure(const MeasureRequest& request, Duration limit);
  // The port of a raw listener at the server.
  absl::StatusOr<uint16_t> AskForRaw(const std::string& address);

  // Fails if any call did.
  absl::StatusOr<bench::LatencyHistogram> Ping(Duration how_long);
  // Bytes per second, one way.
  absl::StatusOr<double> Stream(Duration how_long);

  // What carries calls now.
  std::shared_ptr<const ConnectionInfo> Look();

 private:
  Caller(Runtime& runtime, std::string server, std::unique_ptr<Channel> channel)
      : runtime_(runtime), server_(std::move(server)), channel_(std::move(channel)) {}
  absl::Status Settle();

  Runtime& runtime_;
  const std::string server_;
  const std::unique_ptr<Channel> channel_;
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_CALLER_H_
