// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SETTINGS_SETTINGS_TABLE_H_
#define FARCALL_RPC_SETTINGS_SETTINGS_TABLE_H_

#include <string>

namespace farcall {

// A file of all settings with their defaults, each a comment with what it is for: to begin with.
std::string SettingsTemplate();

}  // namespace farcall

#endif  // FARCALL_RPC_SETTINGS_SETTINGS_TABLE_H_
