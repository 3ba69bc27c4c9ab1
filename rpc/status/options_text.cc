// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/options_text.h"

#include "absl/strings/str_cat.h"
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

}  // namespace farcall
