// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_index.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "google/protobuf/descriptor.h"
#include "rpc/http/http_writer.h"

namespace farcall {
namespace {

constexpr absl::string_view kTop =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<title>farcall</title>\n"
    "<style>body { font-family: sans-serif; margin: 2em; max-width: 60em }\n"
    "code { font-size: 105% }\nli { margin: 0.3em 0 }</style>\n"
    "</head>\n<body>\n<h1>farcall</h1>\n<h2>Pages</h2>\n<ul>\n";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

void AddPage(absl::string_view path, absl::string_view what, std::string& html) {
  absl::StrAppend(&html, "<li><a href=\"", Escaped(path), "\">", Escaped(path), "</a> ",
                  Escaped(what), "</li>\n");
}

}  // namespace

HttpResponse HttpIndex(const HttpPages& pages, const ServiceMap& services) {
  std::string html(kTop);
  AddPage("/health", "whether this server takes requests", html);
  for (const HttpPages::Entry& page : pages.all()) AddPage(page.path, page.what, html);
  absl::StrAppend(&html,
                  "</ul>\n<h2>Methods</h2>\n<p>POST the request as JSON:\n"
                  "<code>curl -d '{...}' host:port/Service/Method</code></p>\n<ul>\n");
  for (const ServiceMap::Found& found : services.all()) {
    const google::protobuf::MethodDescriptor& method = *found.method;
    absl::StrAppend(&html, "<li><code>/", method.service()->full_name(), "/", method.name(),
                    "</code> ", method.input_type()->full_name(), " to ",
                    method.output_type()->full_name(), "</li>\n");
  }
  absl::StrAppend(&html, "</ul>\n</body>\n</html>\n");
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  response.body = BodyOf(std::move(html));
  return response;
}

}  // namespace farcall
