// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SETTINGS_FLAGS_H_
#define FARCALL_RPC_SETTINGS_FLAGS_H_

#include <vector>

#include "rpc/settings/setting.h"
#include "transport/base/option_field.h"

namespace farcall {

// Those of a program's arguments that are settings, --NAME=VALUE or --NAME VALUE, up to "--". They
// are taken out of `argv`; what is left keeps its order. Values are not looked at.
std::vector<Setting> TakeFlags(int* argc, char** argv, const std::vector<OptionField>& fields);

}  // namespace farcall

#endif  // FARCALL_RPC_SETTINGS_FLAGS_H_
