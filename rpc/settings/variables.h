// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SETTINGS_VARIABLES_H_
#define FARCALL_RPC_SETTINGS_VARIABLES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/settings/setting.h"
#include "transport/base/option_field.h"

namespace farcall {

// Names the file of settings.
constexpr char kConfigVariable[] = "FARCALL_CONFIG";

// "rdma.ack_timeout" -> "FARCALL_RDMA_ACK_TIMEOUT".
std::string VariableOf(absl::string_view field);

// The settings among `variables`, which are as in environ(7): all that begin with FARCALL_ but
// kConfigVariable. An empty value counts as unset. What Kubernetes sets for a Service whose name
// begins with "farcall" is left out. One that is none of `fields` keeps its variable's name.
std::vector<Setting> SettingsOf(const std::vector<absl::string_view>& variables,
                                const std::vector<OptionField>& fields);

}  // namespace farcall

#endif  // FARCALL_RPC_SETTINGS_VARIABLES_H_
