// SPDX-License-Identifier: Apache-2.0

#include "rpc/options.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace farcall {
namespace {

// Milliseconds.
constexpr int64_t kHour = 3'600'000;

template <typename Number>
absl::Status InRange(const char* name, Number value, std::type_identity_t<Number> low,
                     std::type_identity_t<Number> high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be ", low, " to ", high, ", not ", value));
}

absl::Status First(std::initializer_list<absl::Status> checks) {
  for (const absl::Status& status : checks) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckBodySize(size_t bytes) {
  return InRange("max_body_size", bytes, 1024, UINT32_MAX);
}

// -1 stands for none.
absl::Status OrNone(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value == -1 || (value >= low && value <= high)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be ", low, " to ", high, ", or -1 for none, not ", value));
}

absl::Status OneOf(const char* name, int value, std::initializer_list<int> allowed) {
  for (const int one : allowed) {
    if (value == one) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be one of ", absl::StrJoin(allowed, ", "), ", not ", value));
}

template <typename Interceptor>
absl::Status CheckInterceptors(const std::vector<std::shared_ptr<Interceptor>>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("interceptors[", i, "] is null"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBalancer(const std::string& name) {
  static constexpr const char* kNames[] = {"rr",           "random", "wrr",      "wr", "c_hash",
                                           "c_murmurhash", "c_md5",  "c_ketama", "la"};
  for (const char* const known : kNames) {
    if (name == known) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("load_balancer must be one of ",
                                                 absl::StrJoin(kNames, ", "), ", not \"",
                                                 absl::CHexEscape(name), "\""));
}

absl::Status CheckBreaker(const CircuitBreakerOptions& breaker) {
  return First({
      InRange("circuit_breaker.error_rate", breaker.error_rate, 0.01, 1),
      InRange("circuit_breaker.window_calls", breaker.window_calls, 10, 100'000),
      breaker.latency_factor == 0
          ? absl::OkStatus()
          : InRange("circuit_breaker.latency_factor", breaker.latency_factor, 2, 1000),
      InRange("circuit_breaker.first_pause_ms", breaker.first_pause_ms, 1, kHour),
      InRange("circuit_breaker.longest_pause_ms", breaker.longest_pause_ms, breaker.first_pause_ms,
              kHour),
  });
}

template <typename TlsOptions>
absl::Status CheckTls(const TlsOptions* tls, bool require_rdma, RdmaWithTls with_tls) {
  if (tls == nullptr) return absl::OkStatus();
  if (require_rdma && with_tls == RdmaWithTls::kRefuse) {
    return absl::InvalidArgumentError(
        "require_rdma with tls: RDMA carries the bytes unencrypted, which rdma_with_tls refuses; "
        "set RdmaWithTls::kAllow, or leave one of them out");
  }
  return tls->Validate();
}

}  // namespace

absl::Status ChannelOptions::Validate() const {
  return First({
      InRange("event_loops", event_loops, 1, 256),
      OrNone("timeout_ms", timeout_ms, 1, INT32_MAX),
      InRange("connect_timeout_ms", connect_timeout_ms, 1, 60'000),
      OrNone("backup_request_ms", backup_request_ms, 0, INT32_MAX),
      InRange("max_retry", max_retry, 0, 100),
      InRange("retry_budget", retry_budget, 0, 10),
      InRange("health_check_interval_ms", health_check_interval_ms, 1, kHour),
      InRange("longest_health_check_interval_ms", longest_health_check_interval_ms,
              health_check_interval_ms, kHour),
      InRange("slow_start_ms", slow_start_ms, 0, kHour),
      CheckBreaker(circuit_breaker),
      CheckBalancer(load_balancer),
      OneOf("connection_type", connection_type,
            {CONNECTION_TYPE_SINGLE, CONNECTION_TYPE_POOLED, CONNECTION_TYPE_SHORT}),
      InRange("max_connections_per_server", max_connections_per_server, 1, 65'536),
      OrNone("pooled_idle_timeout_ms", pooled_idle_timeout_ms, 1, 24 * kHour),
      InRange("naming_interval_ms", naming_interval_ms, 10, 24 * kHour),
      InRange("traffic_class", traffic_class, -1, 255),
      InRange("request_compress_type", static_cast<int>(request_compress_type), 0,
              kCompressTypes - 1),
      OneOf("request_checksum_type", request_checksum_type,
            {CHECKSUM_TYPE_NONE, CHECKSUM_TYPE_CRC32C}),
      CheckTls(tls.get(), require_rdma, rdma_with_tls),
      CheckInterceptors(interceptors),
      CheckBodySize(max_body_size),
      InRange("max_backlog", max_backlog, 64 << 10, SIZE_MAX),
      InRange("max_pending_calls", max_pending_calls, 1, 1'000'000),
  });
}

absl::Status ServerOptions::Validate() const {
  return First({
      InRange("handler_threads", handler_threads, -1, 1024),
      handlers_on_pool && handler_threads == 0
          ? absl::InvalidArgumentError("handlers_on_pool needs handler_threads other than 0")
          : absl::OkStatus(),
      InRange("max_concurrency", max_concurrency.number(), 0, INT32_MAX),
      InRange("max_concurrency_per_connection", max_concurrency_per_connection, 1, 1'000'000),
      InRange("max_connections", max_connections, 1, 1'000'000),
      OrNone("idle_timeout_ms", idle_timeout_ms, 10, INT32_MAX),
      OrNone("read_timeout_ms", read_timeout_ms, 10, INT32_MAX),
      CheckBodySize(max_body_size),
      InRange("traffic_class", traffic_class, -1, 255),
      CheckTls(tls.get(), require_rdma, rdma_with_tls),
      CheckInterceptors(interceptors),
  });
}

}  // namespace farcall
