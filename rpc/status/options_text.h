// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_OPTIONS_TEXT_H_
#define FARCALL_RPC_STATUS_OPTIONS_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "rpc/server_options.h"

namespace farcall {

// The options by their names, in the order of the header, for people. Says nothing of what is
// secret: of keys and credentials only whether there are any.
std::vector<std::pair<std::string, std::string>> OptionsText(const ServerOptions& options);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_OPTIONS_TEXT_H_
