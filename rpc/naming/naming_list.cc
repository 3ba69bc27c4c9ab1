// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_list.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "rpc/naming/target.h"

namespace farcall {
namespace {

bool IsNumber(absl::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

absl::Status CheckTag(absl::string_view tag) {
  const bool printable = std::all_of(tag.begin(), tag.end(), [](char c) {
    return !absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
  if (printable && tag.size() <= kMaxTag) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a tag is a word of at most ", kMaxTag, " bytes without control characters"));
}

// `text` is not blank.
absl::StatusOr<ServerNode> ParseServer(absl::string_view text) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  absl::StatusOr<Target> target = Target::Parse(words[0]);
  if (!target.ok()) return target.status();
  ServerNode node;
  if (target->address) {
    node.address = *std::move(target->address);
  } else {
    node.host = std::move(target->text);
  }
  size_t next = 1;
  if (next < words.size() && IsNumber(words[next])) {
    if (!absl::SimpleAtoi(words[next], &node.weight) || node.weight < 1 ||
        node.weight > kMaxWeight) {
      return absl::InvalidArgumentError(
          absl::StrCat("a weight is a number from 1 to ", kMaxWeight));
    }
    ++next;
  }
  if (next < words.size()) {
    if (absl::Status status = CheckTag(words[next]); !status.ok()) return status;
    node.tag = std::string(words[next++]);
  }
  if (next < words.size()) {
    constexpr size_t kShown = 100;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(words[next].substr(0, kShown)),
                     "\" is too much: a server is TARGET [WEIGHT] [TAG]"));
  }
  return node;
}

// Collects servers, each once.
class Servers {
 public:
  // The error of a `text` that is not understood names `place`.
  absl::Status Add(absl::string_view text, absl::string_view place, size_t number) {
    absl::StatusOr<ServerNode> node = ParseServer(text);
    if (!node.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, " ", number, ": ", node.status().message()));
    }
    const bool named = node->address.family() == AddressFamily::kNone;
    std::string identity =
        absl::StrCat(named ? node->host : node->address.ToString(), " ", node->tag);
    if (!seen_.insert(std::move(identity)).second) return absl::OkStatus();
    nodes_.push_back(*std::move(node));
    if (nodes_.size() <= kMaxServers) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(place, " ", number, ": there are more than ",
                                                   kMaxServers, " servers, which is the limit"));
  }
  std::vector<ServerNode> Take() { return std::move(nodes_); }

 private:
  std::vector<ServerNode> nodes_;
  absl::flat_hash_set<std::string> seen_;
};

absl::Status CheckSize(absl::string_view text) {
  if (text.size() <= kMaxServerListBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there are ", text.size(), " bytes; the limit is ", kMaxServerListBytes));
}

}  // namespace

absl::StatusOr<std::vector<ServerNode>> ParseServerList(absl::string_view text) {
  if (absl::Status status = CheckSize(text); !status.ok()) return status;
  Servers servers;
  size_t number = 0;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    ++number;
    entry = absl::StripAsciiWhitespace(entry);
    if (entry.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "server ", number, " is empty: a list is \"a:1,b:2 WEIGHT,c:3 WEIGHT TAG\""));
    }
    if (absl::Status status = servers.Add(entry, "server", number); !status.ok()) return status;
  }
  return servers.Take();
}

absl::StatusOr<std::vector<ServerNode>> ParseServerFile(absl::string_view text) {
  if (absl::Status status = CheckSize(text); !status.ok()) return status;
  Servers servers;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (absl::Status status = servers.Add(line, "line", number); !status.ok()) return status;
  }
  std::vector<ServerNode> nodes = servers.Take();
  if (nodes.empty()) {
    return absl::InvalidArgumentError(
        "there is no server in it: a line is TARGET [WEIGHT] [TAG], as in \"10.0.0.7:8002 3\"");
  }
  return nodes;
}

}  // namespace farcall
