// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/naming/naming_dns.h"
#include "rpc/naming/naming_file.h"
#include "rpc/naming/naming_list.h"
#include "rpc/naming/target.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/loop/posted_call.h"

namespace farcall {
namespace {

struct Scheme {
  absl::string_view name;  // empty: a single server
  absl::string_view rest;
};

Scheme SchemeOf(absl::string_view target) {
  const size_t end = target.find("://");
  if (end == absl::string_view::npos) return {{}, target};
  return {target.substr(0, end), target.substr(end + 3)};
}

ServerNode ToNode(Target target) {
  ServerNode node;
  if (target.address) {
    node.address = *std::move(target.address);
  } else {
    node.host = std::move(target.text);
  }
  return node;
}

// The servers of what needs no look-up.
absl::StatusOr<Naming::Nodes> ParseFixed(absl::string_view target) {
  const Scheme scheme = SchemeOf(target);
  if (scheme.name == "list") {
    absl::StatusOr<Naming::Nodes> nodes = ParseServerList(scheme.rest);
    if (!nodes.ok()) return Annotate(nodes.status(), "list://");
    return nodes;
  }
  absl::StatusOr<Target> single = Target::Parse(target);
  if (!single.ok()) return single.status();
  return Naming::Nodes{ToNode(*std::move(single))};
}

// What follows "dns://". An address is its own answer.
absl::StatusOr<Target> ParseDns(absl::string_view rest) {
  absl::StatusOr<Target> name = Target::Parse(rest);
  if (!name.ok()) return Annotate(name.status(), "dns://");
  if (name->address && name->address->family() == AddressFamily::kUnix) {
    return absl::InvalidArgumentError("dns:// takes a name and a port, as in dns://storage:8002");
  }
  return name;
}

// Servers that never change.
class FixedNaming final : public Naming {
 public:
  FixedNaming(EventLoop& loop, Nodes nodes, OnNodes on_nodes) {
    posted_.Post(loop, [nodes = std::move(nodes), on_nodes = std::move(on_nodes)]() mutable {
      on_nodes(std::move(nodes));
    });
  }
  void Refresh() override {}

 private:
  PostedCall posted_;
};

}  // namespace

absl::Status Naming::Check(absl::string_view target) {
  const Scheme scheme = SchemeOf(target);
  if (scheme.name.empty() || scheme.name == "list") return ParseFixed(target).status();
  if (scheme.name == "dns") return ParseDns(scheme.rest).status();
  constexpr size_t kShown = 300;
  const std::string shown = absl::CHexEscape(target.substr(0, kShown));
  if (scheme.name != "file") {
    return absl::InvalidArgumentError(absl::StrCat(
        "target \"", shown,
        "\" is none of host:port, 1.2.3.4:port, [::1]:port, unix:PATH, list://a:1,b:2, "
        "file://PATH and dns://name:port"));
  }
  if (!scheme.rest.empty() && !absl::StrContains(scheme.rest, '\0')) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "target \"", shown, "\" names no file: it is file://PATH, as in file:///etc/servers"));
}

std::unique_ptr<Naming> Naming::Start(const RuntimeParts& parts, EventLoop& loop,
                                      absl::string_view target, Duration interval,
                                      OnNodes on_nodes) {
  farcall::Check(Check(target).ok(), "a target passes Naming::Check before its naming starts");
  const Scheme scheme = SchemeOf(target);
  if (scheme.name == "file") {
    return StartFileNaming(parts, loop, std::string(scheme.rest), interval, std::move(on_nodes));
  }
  if (scheme.name == "dns") {
    Target name = *ParseDns(scheme.rest);
    if (name.address) {
      return std::make_unique<FixedNaming>(loop, Nodes{ToNode(std::move(name))},
                                           std::move(on_nodes));
    }
    return StartDnsNaming(parts, loop, std::move(name), interval, DnsOptions(),
                          std::move(on_nodes));
  }
  return std::make_unique<FixedNaming>(loop, *ParseFixed(target), std::move(on_nodes));
}

}  // namespace farcall
