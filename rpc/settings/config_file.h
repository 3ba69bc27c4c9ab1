// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SETTINGS_CONFIG_FILE_H_
#define FARCALL_RPC_SETTINGS_CONFIG_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/settings/setting.h"

namespace farcall {

// A larger file is refused.
constexpr size_t kMaxConfigBytes = size_t{1} << 20;

// The settings of a YAML 1.2 document: a map of names to scalars, lists of scalars and maps, whose
// names come behind their own and a dot. A key without a value is left out. `path` is for what is
// said of it; each setting's `from` is "path:line". Errors name the line.
absl::StatusOr<std::vector<Setting>> ParseConfig(absl::string_view text, absl::string_view path);

// Of the file at `path`.
absl::StatusOr<std::vector<Setting>> ReadConfig(const std::string& path);

}  // namespace farcall

#endif  // FARCALL_RPC_SETTINGS_CONFIG_FILE_H_
