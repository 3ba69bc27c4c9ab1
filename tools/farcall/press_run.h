// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_PRESS_RUN_H_
#define FARCALL_TOOLS_FARCALL_PRESS_RUN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/common/figures/call_tally.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "rpc/runtime/channel.h"
#include "tools/farcall/press_report.h"

namespace farcall::cli {

// One load: the same call again and again.
struct PressLoad {
  std::vector<std::unique_ptr<Channel>> channels;  // each with its share of the load
  const google::protobuf::MethodDescriptor* method = nullptr;
  const google::protobuf::Message* request = nullptr;
  const google::protobuf::Message* response = nullptr;  // the prototype
  UserFields headers;
  std::shared_ptr<const std::string> attachment;  // null: none
  int concurrency = 1;  // calls under way at most, over all channels; at least one for each
  double qps = 0;       // calls per second in all; 0: closed loop
  Duration duration{};
};

// Puts the load on for its duration, or until `stop`. `each_second` gets what ended since the last
// time, with how long the run is and how long that was, in seconds. Returns when the last call has
// ended, which their timeouts bound.
PressSummary RunPress(
    const PressLoad& load, const std::atomic<bool>& stop,
    const std::function<void(double, double, const bench::CallCounts&)>& each_second);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_PRESS_RUN_H_
