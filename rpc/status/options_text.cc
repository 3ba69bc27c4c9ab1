// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/options_text.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace farcall {
namespace {

std::string YesNo(bool yes) { return yes ? "yes" : "no"; }

std::string Text(const MaxConcurrency& limit) {
  if (limit.is_auto()) return "auto";
  return limit.number() == 0 ? "no limit" : absl::StrCat(limit.number());
}

std::string Milliseconds(int64_t ms) { return ms < 0 ? "never" : absl::StrCat(ms, " ms"); }

std::string HandlerThreads(int threads) {
  if (threads < 0) return "default";
  return threads == 0 ? "inline" : absl::StrCat(threads);
}

std::string Text(PollingMode mode) {
  switch (mode) {
    case PollingMode::kEvent:
      return "event";
    case PollingMode::kAdaptive:
      return "adaptive";
    case PollingMode::kBusy:
      return "busy";
  }
  return "unknown";
}

std::string Tls(const ServerTlsOptions* tls) {
  if (tls == nullptr) return "no";
  return tls->require_client_certificate ? "mutual" : "yes";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OptionsText(const ServerOptions& options) {
  return {
      {"handler_threads", HandlerThreads(options.handler_threads)},
      {"handlers_on_pool", YesNo(options.handlers_on_pool)},
      {"max_concurrency", Text(options.max_concurrency)},
      {"max_concurrency_per_connection", absl::StrCat(options.max_concurrency_per_connection)},
      {"max_connections", absl::StrCat(options.max_connections)},
      {"idle_timeout_ms", Milliseconds(options.idle_timeout_ms)},
      {"read_timeout_ms", Milliseconds(options.read_timeout_ms)},
      {"max_body_size", absl::StrCat(options.max_body_size)},
      {"use_rdma", YesNo(options.use_rdma || options.require_rdma)},
      {"require_rdma", YesNo(options.require_rdma)},
      {"traffic_class",
       options.traffic_class < 0 ? "default" : absl::StrCat(options.traffic_class)},
      {"auth", YesNo(options.auth != nullptr)},
      {"tls", Tls(options.tls.get())},
      {"rdma_with_tls", options.rdma_with_tls == RdmaWithTls::kAllow ? "allow" : "refuse"},
      {"interceptors", absl::StrCat(options.interceptors.size())},
      {"http", YesNo(options.http)},
      {"reflection", YesNo(options.reflection)},
  };
}

std::vector<std::pair<std::string, std::string>> OptionsText(const RuntimeOptions& options) {
  const RdmaOptions& rdma = options.rdma;
  const auto names = [](const auto& list) {
    return list.empty() ? std::string("all") : absl::StrJoin(list, ", ");
  };
  return {
      {"event_loops", options.event_loops == 0 ? "default" : absl::StrCat(options.event_loops)},
      {"cpus", names(options.cpus)},
      {"polling", Text(options.polling.mode)},
      {"polling.spin", absl::StrCat(options.polling.spin / std::chrono::microseconds(1), " us")},
      {"max_blocked_threads", absl::StrCat(options.max_blocked_threads)},
      {"pool.region_bytes", absl::StrCat(options.pool.region_bytes)},
      {"pool.max_bytes", absl::StrCat(options.pool.max_bytes)},
      {"pool.huge_pages", YesNo(options.pool.huge_pages)},
      {"registration_cache.min_bytes", absl::StrCat(options.registration_cache.min_bytes)},
      {"registration_cache.max_bytes", absl::StrCat(options.registration_cache.max_bytes)},
      {"registration_cache.max_entries", absl::StrCat(options.registration_cache.max_entries)},
      {"rdma.devices", names(rdma.devices)},
      {"rdma.addresses", names(rdma.addresses)},
      {"rdma.network_status", rdma.network_status.empty() ? "none" : rdma.network_status},
      {"rdma.set_up", std::string(ToString(rdma.set_up))},
      {"rdma.listen_port", rdma.listen_port == 0 ? "any" : absl::StrCat(rdma.listen_port)},
      {"rdma.send_slots", absl::StrCat(rdma.send_slots)},
      {"rdma.receive_slots", absl::StrCat(rdma.receive_slots)},
      {"rdma.shared_receives", absl::StrCat(rdma.shared_receives)},
      {"rdma.max_shared_receives", absl::StrCat(rdma.max_shared_receives)},
      {"rdma.completion_queue_depth", absl::StrCat(rdma.completion_queue_depth)},
      {"rdma.max_inline", absl::StrCat(rdma.max_inline)},
      {"rdma.max_send_segments", absl::StrCat(rdma.max_send_segments)},
      {"rdma.retry_count", absl::StrCat(rdma.retry_count)},
      {"rdma.ack_timeout", absl::StrCat(rdma.ack_timeout)},
      {"rdma.rnr_retry", absl::StrCat(rdma.rnr_retry)},
      {"rdma.min_rnr_timer", absl::StrCat(rdma.min_rnr_timer)},
      {"rdma.connect_timeout", Milliseconds(rdma.connect_timeout / std::chrono::milliseconds(1))},
      {"rdma.copy_out_below", absl::StrCat(rdma.copy_out_below)},
      {"rdma.relaxed_ordering", YesNo(rdma.relaxed_ordering)},
      {"rdma.read_at_least", rdma.read_at_least == 0 ? "never" : absl::StrCat(rdma.read_at_least)},
      {"rdma.read_window", absl::StrCat(rdma.read_window)},
  };
}

}  // namespace farcall
