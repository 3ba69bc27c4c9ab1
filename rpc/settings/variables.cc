// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/variables.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace farcall {
namespace {

constexpr absl::string_view kPrefix = "FARCALL_";
// How RdmaOptions::network_status was given before all fields had variables.
constexpr absl::string_view kNetworkStatusVariable = "FARCALL_NETWORK_STATUS";

// Kubernetes tells each container of the Services of its namespace ("Service environment
// variables"): NAME_SERVICE_HOST, NAME_SERVICE_PORT[_PORTNAME], NAME_PORT=tcp://...,
// NAME_PORT_80_TCP=tcp://..., and behind that _PROTO, _PORT and _ADDR.
bool IsOfAService(absl::string_view name, absl::string_view value) {
  if (absl::StrContains(name, "_SERVICE_HOST") || absl::StrContains(name, "_SERVICE_PORT")) {
    return true;
  }
  for (const absl::string_view protocol : {"tcp", "udp", "sctp"}) {
    const std::string part = absl::StrCat("_", absl::AsciiStrToUpper(protocol));
    const bool at_port = absl::EndsWith(name, "_PORT") || absl::EndsWith(name, part);
    if (at_port && absl::StartsWith(value, absl::StrCat(protocol, "://"))) return true;
    const size_t at = name.rfind(part + "_");
    if (at == absl::string_view::npos || at == 0 || !absl::ascii_isdigit(name[at - 1])) continue;
    const absl::string_view end = name.substr(at + part.size() + 1);
    if (end == "PROTO" || end == "PORT" || end == "ADDR") return true;
  }
  return false;
}

}  // namespace

std::string VariableOf(absl::string_view field) {
  return absl::StrCat(kPrefix, absl::AsciiStrToUpper(absl::StrReplaceAll(field, {{".", "_"}})));
}

std::vector<Setting> SettingsOf(const std::vector<absl::string_view>& variables,
                                const std::vector<OptionField>& fields) {
  std::vector<Setting> settings;
  for (const absl::string_view variable : variables) {
    const size_t equals = variable.find('=');
    if (equals == absl::string_view::npos || !absl::StartsWith(variable, kPrefix)) continue;
    const absl::string_view name = variable.substr(0, equals);
    const absl::string_view value = variable.substr(equals + 1);
    if (value.empty() || name == kConfigVariable || IsOfAService(name, value)) continue;
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const OptionField& one) {
      return VariableOf(one.name) == name ||
             (one.name == "rdma.network_status" && name == kNetworkStatusVariable);
    });
    settings.push_back({field == fields.end() ? std::string(name) : field->name, std::string(value),
                        std::string(name)});
  }
  return settings;
}

}  // namespace farcall
