// SPDX-License-Identifier: Apache-2.0
//
// The two ends of a raw measurement: who dials measures, who listens answers.

#ifndef FARCALL_TOOLS_DOCTOR_RAW_RAW_ENDS_H_
#define FARCALL_TOOLS_DOCTOR_RAW_RAW_ENDS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/common/figures/latency_histogram.h"
#include "tools/doctor/raw/raw_link.h"
#include "transport/address.h"
#include "transport/base/time.h"

namespace farcall::doctor {

inline TimePoint Now() { return std::chrono::steady_clock::now(); }

// How long a listener waits.
struct RawLimits {
  Duration silence{};  // for its client, or without a word of it
  Duration session{};  // in all
};

// Binds to one address, port of the kernel's choice, and serves one client; others that come are
// refused. Create and Serve may be on different threads, one after the other.
class RawListener {
 public:
  static absl::StatusOr<std::unique_ptr<RawListener>> Create(const VerbsApi& api,
                                                             const Address& address);

  uint16_t port() const;
  // Until the client disconnects (OK), breaks, a limit is reached, or `stop`, which is looked at
  // each 100 ms or more often.
  absl::Status Serve(const RawLimits& limits, const std::atomic<bool>& stop);
  // A client has come. Any thread.
  bool has_client() const { return has_client_; }

 private:
  RawListener(const VerbsApi& api, EventChannel channel, CmId id)
      : api_(api), channel_(std::move(channel)), id_(std::move(id)) {}
  absl::StatusOr<std::unique_ptr<RawLink>> Accept(TimePoint deadline,
                                                  const std::atomic<bool>& stop);
  absl::Status Answer(RawLink& link, const RawLimits& limits, const std::atomic<bool>& stop);

  const VerbsApi& api_;
  const EventChannel channel_;
  const CmId id_;
  std::atomic<bool> has_client_{false};
};

class RawClient {
 public:
  // `from`: an address of this host, port 0, whose device is to be used; kNone: the route's.
  static absl::StatusOr<std::unique_ptr<RawClient>> Connect(const VerbsApi& api,
                                                            const Address& address, Duration limit,
                                                            const Address& from = Address());
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  // Disconnects.
  ~RawClient();

  std::string device() const { return link_->device(); }
  // One after the other: each from before its posting until its answer was polled.
  absl::StatusOr<bench::LatencyHistogram> Ping(Duration how_long);
  // Bytes per second of messages that were acknowledged.
  absl::StatusOr<double> Stream(Duration how_long);

 private:
  static absl::StatusOr<std::unique_ptr<RawClient>> Try(const VerbsApi& api, const Address& address,
                                                        const Address& from, TimePoint deadline,
                                                        int& error);
  RawClient(const VerbsApi& api, EventChannel channel) : api_(api), channel_(std::move(channel)) {}
  // Until something came, or the limit; the number of messages of this length. An error says how
  // many were answered before.
  absl::StatusOr<uint32_t> Await(uint32_t bytes, uint64_t answered, Duration limit);
  // Sends pings until all are answered. One may not be enough: siw of Linux 6.1 leaves a message
  // that comes while the server accepts where it is, until another one comes.
  absl::Status WaitForServer();

  const VerbsApi& api_;
  const EventChannel channel_;
  std::unique_ptr<RawLink> link_;
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_RAW_RAW_ENDS_H_
