// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a list or a file of servers. What must hold: what is taken is within its limits,
// each server once, and the same when it is written and read again; an error
// names the place, in a text that is fit for a log.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "rpc/naming/naming_list.h"
#include "rpc/naming/target.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

std::string Write(const ServerNode& node) {
  const bool named = node.address.family() == AddressFamily::kNone;
  return absl::StrCat(named ? node.host : node.address.ToString(), " ", node.weight, " ", node.tag);
}

std::string WriteAll(const std::vector<ServerNode>& nodes, absl::string_view between) {
  return absl::StrJoin(nodes, between, [](std::string* out, const ServerNode& node) {
    absl::StrAppend(out, Write(node));
  });
}

void CheckNode(const ServerNode& node) {
  Check(node.weight >= 1 && node.weight <= kMaxWeight, "a weight is within its limits");
  Check(node.tag.size() <= kMaxTag, "a tag is within its limit");
  const bool named = node.address.family() == AddressFamily::kNone;
  Check(named != node.host.empty(), "a server has an address or a name");
  Check(!named || Target::Parse(node.host).ok(), "a name can be resolved");
}

template <typename Parse>
void Run(absl::string_view text, Parse parse, absl::string_view between) {
  const auto nodes = parse(text);
  if (!nodes.ok()) {
    const absl::string_view message = nodes.status().message();
    Check(message.size() < 1000, "an error is short");
    Check(std::all_of(message.begin(), message.end(),
                      [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); }),
          "an error is printable");
    return;
  }
  Check(!nodes->empty() && nodes->size() <= kMaxServers, "there are servers, not too many");
  for (const ServerNode& node : *nodes) CheckNode(node);
  const std::string written = WriteAll(*nodes, between);
  const auto again = parse(written);
  Check(again.ok() && WriteAll(*again, between) == written, "what is written is read again");
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  farcall::Run(text, &farcall::ParseServerList, ",");
  farcall::Run(text, &farcall::ParseServerFile, "\n");
  return 0;
}
