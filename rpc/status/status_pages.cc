// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_pages.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "rpc/status/dump_text.h"
#include "rpc/status/status_json.h"
#include "rpc/status/status_metrics.h"
#include "rpc/status/status_page.h"

namespace farcall {
namespace {

bool WantsJson(const HttpRequest& request) {
  if (const std::string* format = request.FindQuery("format")) return *format == "json";
  const std::string* const accept = request.Find("Accept");
  if (accept == nullptr) return false;
  const std::string kinds = absl::AsciiStrToLower(*accept);
  return absl::StrContains(kinds, "application/json") && !absl::StrContains(kinds, "text/html");
}

}  // namespace

void AddStatusPages(std::shared_ptr<StatusCollector> collector, HttpPages& pages) {
  pages.Add("/status", "calls, connections, memory; ?format=json",
            [collector](const HttpRequest& request) {
              const ServerStatus status = collector->Collect();
              if (WantsJson(request)) return HttpPage{200, "application/json", StatusJson(status)};
              return HttpPage{200, "text/html; charset=utf-8", StatusPage(status)};
            });
  pages.Add("/status/dump", "all of it as text, for a report of a trouble",
            [collector](const HttpRequest&) {
              return HttpPage{200, "text/plain; charset=utf-8", DumpText(collector->Collect())};
            });
  pages.Add("/metrics", "the same for Prometheus", [collector](const HttpRequest&) {
    return HttpPage{200, "text/plain; version=0.0.4; charset=utf-8",
                    MetricsText(collector->Collect())};
  });
}

}  // namespace farcall
