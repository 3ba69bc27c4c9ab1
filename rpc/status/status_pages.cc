// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_pages.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/status/status_fields.h"
#include "rpc/status/status_metrics.h"
#include "transport/base/check.h"

namespace farcall {

// The files of rpc/status/page, joined when the library is built, with "@status@" where the
// status belongs.
extern const char kStatusPageText[];

namespace {

bool WantsJson(const HttpRequest& request) {
  if (const std::string* format = request.FindQuery("format")) return *format == "json";
  const std::string* const accept = request.Find("Accept");
  if (accept == nullptr) return false;
  const std::string kinds = absl::AsciiStrToLower(*accept);
  return absl::StrContains(kinds, "application/json") && !absl::StrContains(kinds, "text/html");
}

}  // namespace

std::string StatusPage(const ServerStatus& status) {
  constexpr absl::string_view kPlace = "@status@";
  const absl::string_view page = kStatusPageText;
  const size_t at = page.find(kPlace);
  Check(at != absl::string_view::npos, "the page has a place for the status");
  // JsonWriter escapes what could end the element that holds it.
  return absl::StrCat(page.substr(0, at), StatusJson(status), page.substr(at + kPlace.size()));
}

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
