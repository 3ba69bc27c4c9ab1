// SPDX-License-Identifier: Apache-2.0
//
// The operator's settings: what a deployed program does otherwise without a new binary.

#ifndef FARCALL_RPC_SETTINGS_SETTINGS_H_
#define FARCALL_RPC_SETTINGS_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/runtime_options.h"
#include "rpc/settings/setting.h"
#include "rpc/status/runtime_status.h"

namespace farcall {

// Sets what `settings` say, the later ones over the earlier ones, and checks the whole. How they
// stand against what the program has set, `options->operator_settings` says. Returns each field
// with its value and where that came from. kInvalidArgument for an unknown name, a value out of
// bounds, or values that do not go together: names the place (Setting::from) and the bounds; then
// `options` are half changed.
absl::StatusOr<std::vector<OptionStatus>> Apply(const std::vector<Setting>& settings,
                                                RuntimeOptions* options);

// The same with the settings of this process: of the file that FARCALL_CONFIG names, then of the
// variables FARCALL_<FIELD>, then those kept of its flags, which are not the operator's and are
// never ignored. As long as no thread calls setenv(3).
absl::StatusOr<std::vector<OptionStatus>> ApplyOperatorSettings(RuntimeOptions* options);
// In the place of those kept before. While there is one thread.
void KeepFlags(std::vector<Setting> flags);

}  // namespace farcall

#endif  // FARCALL_RPC_SETTINGS_SETTINGS_H_
