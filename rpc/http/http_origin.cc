// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_origin.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace farcall {
namespace {

std::string Shown(absl::string_view text) { return absl::CHexEscape(text.substr(0, 100)); }

// Whether `origin`, "http://host:port" (RFC 6454, section 6.2), is what `host` names. "null", which
// sandboxed pages and files have, is nowhere. The scheme does not count: who ended TLS is not
// known.
bool IsAt(absl::string_view origin, absl::string_view host) {
  const size_t scheme = origin.find("://");
  if (scheme == absl::string_view::npos) return false;
  const bool tls = absl::EqualsIgnoreCase(origin.substr(0, scheme), "https");
  const absl::string_view implied = tls ? ":443" : ":80";
  return absl::EqualsIgnoreCase(absl::StripSuffix(origin.substr(scheme + 3), implied),
                                absl::StripSuffix(host, implied));
}

}  // namespace

HttpRefusal RefuseOtherSite(const HttpRequest& request) {
  const std::string* const found = request.Find("Host");
  const absl::string_view host = found != nullptr ? absl::string_view(*found) : "";
  bool site_told = false;
  for (const HttpField& field : request.fields) {
    // Sent with all that a page POSTs, https://fetch.spec.whatwg.org/#origin-header.
    if (absl::EqualsIgnoreCase(field.name, "Origin") && !IsAt(field.value, host)) {
      return {403, absl::StrCat("a browser asks for a page of another site: Origin is ",
                                Shown(field.value), ", Host is ", Shown(host),
                                ". Call from a program, or have the proxy between, if there is "
                                "one, keep Host as the browser sent it")};
    }
    // Sent with all requests to https and to localhost, https://www.w3.org/TR/fetch-metadata.
    if (absl::EqualsIgnoreCase(field.name, "Sec-Fetch-Site")) {
      site_told = true;
      if (field.value == "same-origin" || field.value == "none") continue;
      return {403, absl::StrCat("a browser asks for a page of another site: Sec-Fetch-Site is ",
                                Shown(field.value), ". Call from a program")};
    }
  }
  if (request.method != "GET" || site_told) return {};
  // An image of any page asks like this, and where the page is from is not to be seen.
  const std::string* const agent = request.Find("User-Agent");
  if (agent == nullptr || !absl::StartsWith(*agent, "Mozilla/")) return {};
  return {403,
          "a browser's GET may be for a page of another site: POST the request, for example by "
          "curl, or use https"};
}

}  // namespace farcall
