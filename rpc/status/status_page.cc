// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/status/page_text.h"
#include "rpc/status/status_json.h"
#include "transport/base/check.h"

namespace farcall {

std::string StatusPage(const ServerStatus& status) {
  constexpr absl::string_view kPlace = "@status@";
  const absl::string_view page = kStatusPageText;
  const size_t at = page.find(kPlace);
  Check(at != absl::string_view::npos, "the page has a place for the status");
  // JsonWriter escapes what could end the element that holds it.
  return absl::StrCat(page.substr(0, at), StatusJson(status), page.substr(at + kPlace.size()));
}

}  // namespace farcall
