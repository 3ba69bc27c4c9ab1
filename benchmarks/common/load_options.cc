// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_options.h"

#include "absl/strings/str_cat.h"
#include "benchmarks/common/store_memory.h"

namespace farcall::bench {
namespace {

template <typename T>
absl::Status Between(absl::string_view flag, T value, T least, T most) {
  // Written so that a NaN is refused too.
  if (value >= least && value <= most) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, " is ", value, "; it must be from ", least, " to ", most));
}

absl::Status KnownPolling(absl::string_view polling) {
  if (polling == "event" || polling == "adaptive" || polling == "busy") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--polling is \"", polling, "\"; it must be event, adaptive or busy"));
}

absl::Status KnownWay(const LoadOptions& load) {
  if (load.way == "echo") return absl::OkStatus();
  if (load.way != "put" && load.way != "get") {
    return absl::InvalidArgumentError(
        absl::StrCat("--way is \"", load.way, "\"; it must be echo, put or get"));
  }
  absl::Status status = Between<size_t>("payload", load.payload, 1, kStoreMemory / 2);
  status.Update(Between<size_t>("attachment", load.attachment, 1, kStoreMemory / 2));
  if (load.attachment * load.in_flight * load.connections > kStoreMemory) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("--way=", load.way, ": more than ", kStoreMemory,
                     " bytes would be under way: fewer of --in_flight or --connections, please")));
  }
  return status;
}

absl::Status Given(absl::string_view flag, absl::string_view address) {
  return address.empty() ? absl::InvalidArgumentError(absl::StrCat("--", flag, " has no address"))
                         : absl::OkStatus();
}

}  // namespace

absl::Status LoadOptions::Validate() const {
  constexpr size_t kLargest = size_t{1} << 30;
  absl::Status status = Given("server", server);
  status.Update(Between<size_t>("payload", payload, 0, kLargest));
  status.Update(Between<size_t>("attachment", attachment, 0, kLargest));
  status.Update(Between("in_flight", in_flight, 1, 65536));
  status.Update(Between("connections", connections, 1, 10000));
  status.Update(Between("threads", threads, 1, 1024));
  status.Update(Between("rate", rate, 0.0, 1e9));
  status.Update(Between("seconds", seconds, 0.001, 86400.0));
  status.Update(Between("warmup", warmup, 0.0, 3600.0));
  status.Update(KnownPolling(polling));
  status.Update(KnownWay(*this));
  if (synchronous && rate > 0) {
    status.Update(absl::InvalidArgumentError("--synchronous goes without --rate"));
  }
  return status;
}

absl::Status ServerOptions::Validate() const {
  absl::Status status = Given("listen", listen);
  status.Update(Between("threads", threads, 1, 1024));
  status.Update(KnownPolling(polling));
  return status;
}

}  // namespace farcall::bench
