// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/status/status_fields.h"
#include "rpc/status/status_pages.h"
#include "rpc/status/status_testing.h"

namespace farcall {
namespace {

size_t Occurrences(absl::string_view text, absl::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != absl::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(StatusPageTest, IsOneWholePage) {
  const std::string page = StatusPage(SampleStatus());
  EXPECT_EQ(Occurrences(page, "<!doctype html>"), 1U);
  EXPECT_EQ(Occurrences(page, "<html"), 1U);
  EXPECT_EQ(Occurrences(page, "</html>"), 1U);
  EXPECT_EQ(Occurrences(page, "<style>"), 1U);
  EXPECT_EQ(Occurrences(page, "</style>"), 1U);
  EXPECT_EQ(Occurrences(page, "<script"), 2U) << "the status, and what shows it";
  EXPECT_EQ(Occurrences(page, "</script>"), 2U);
  for (const char* place : {"@style@", "@script@", "@status@"}) {
    EXPECT_FALSE(absl::StrContains(page, place)) << place;
  }
}

TEST(StatusPageTest, NeedsNothingFromOutside) {
  const std::string page = StatusPage(SampleStatus());
  // The one address that it names is the name of a namespace.
  EXPECT_EQ(Occurrences(page, "http://"), Occurrences(page, "http://www.w3.org/2000/svg"));
  for (const char* what : {"https://", " src=", "@import", "url(", "//cdn"}) {
    EXPECT_FALSE(absl::StrContains(page, what)) << what;
  }
  EXPECT_TRUE(absl::StrContains(page, "default-src 'none'"));
}

TEST(StatusPageTest, PutsTextIntoThePageOnlyAsText) {
  const std::string page = StatusPage(SampleStatus());
  for (const char* what : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                           "eval(", "DOMParser", "createContextualFragment"}) {
    EXPECT_FALSE(absl::StrContains(page, what)) << what;
  }
}

TEST(StatusPageTest, HoldsTheStatus) {
  const std::string json = StatusJson(SampleStatus());
  EXPECT_TRUE(absl::StrContains(
      StatusPage(SampleStatus()),
      absl::StrCat("<script id=\"first\" type=\"application/json\">", json, "</script>")));
}

TEST(StatusPageTest, WhatComesFromOutsideCannotEndTheScript) {
  ServerStatus status = SampleStatus();
  const size_t tags = Occurrences(StatusPage(status), "<");
  status.connections.some[0].user = "</script><script>alert(1)</script>";
  status.connections.some[0].info.why_detail = "<!--<script>";
  status.connections.some[1].info.tls_peer = "/CN=<img src=x onerror=alert(1)>@status@";
  status.methods[0].method = "</ScRiPt >";
  EXPECT_EQ(Occurrences(StatusPage(status), "<"), tags);
}

}  // namespace
}  // namespace farcall
