// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_target.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace farcall {
namespace {

// More are not looked at: no page has so many.
constexpr size_t kMaxParameters = 64;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

enum class Part : unsigned char {
  kPath,   // "%2F" stays: it separates nothing, RFC 3986 section 2.2, and a proxy that lets some
           // paths pass has not read it as "/"
  kQuery,  // "+" stands for a space, as in forms
};

// RFC 3986, section 2.1.
absl::Status Decode(absl::string_view text, Part part, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
      if (low < 0) return absl::InvalidArgumentError("a \"%\" in the target needs two hex digits");
      const char decoded = static_cast<char>(high * 16 + low);
      if (decoded == '\0') return absl::InvalidArgumentError("the target holds %00");
      if (decoded != '/' || part == Part::kQuery) {
        c = decoded;
        i += 2;
      }
    } else if (part == Part::kQuery && c == '+') {
      c = ' ';
    }
    out += c;
  }
  return absl::OkStatus();
}

absl::Status ParseQuery(absl::string_view text, HttpRequest& request) {
  for (const absl::string_view part : absl::StrSplit(text, '&', absl::SkipEmpty())) {
    if (request.query.size() == kMaxParameters) {
      return absl::InvalidArgumentError(
          absl::StrCat("the target has more than ", kMaxParameters, " parameters"));
    }
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    HttpField parameter;
    if (absl::Status bad = Decode(pair.first, Part::kQuery, parameter.name); !bad.ok()) return bad;
    if (absl::Status bad = Decode(pair.second, Part::kQuery, parameter.value); !bad.ok())
      return bad;
    request.query.push_back(std::move(parameter));
  }
  return absl::OkStatus();
}

// Takes "http://host" away; "" stays for a path.
bool StripOrigin(absl::string_view& target) {
  for (const absl::string_view scheme : {"http://", "https://"}) {
    if (!absl::StartsWithIgnoreCase(target, scheme)) continue;
    target.remove_prefix(scheme.size());
    const size_t host = target.find_first_of("/?#");
    target.remove_prefix(host == absl::string_view::npos ? target.size() : host);
    return true;
  }
  return false;
}

}  // namespace

absl::Status ParseTarget(absl::string_view target, HttpRequest& request) {
  request.query.clear();
  if (target == "*" && request.method == "OPTIONS") {
    request.path = "*";
    return absl::OkStatus();
  }
  const bool absolute = StripOrigin(target);
  if (target.find('#') != absl::string_view::npos) {
    return absl::InvalidArgumentError("the target has a fragment, which stays with the client");
  }
  const size_t mark = target.find('?');
  const absl::string_view path = target.substr(0, mark);
  if (path.empty() && absolute) {
    request.path = "/";
  } else if (!absl::StartsWith(path, "/")) {
    return absl::InvalidArgumentError("the target must begin with \"/\": this is no proxy");
  } else if (absl::Status bad = Decode(path, Part::kPath, request.path); !bad.ok()) {
    return bad;
  }
  if (mark == absl::string_view::npos) return absl::OkStatus();
  return ParseQuery(target.substr(mark + 1), request);
}

}  // namespace farcall
