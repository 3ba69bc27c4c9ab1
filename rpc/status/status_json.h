// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_STATUS_JSON_H_
#define FARCALL_RPC_STATUS_STATUS_JSON_H_

#include <string>

#include "rpc/status/server_status.h"

namespace farcall {

// One JSON object. docs/status.md lists its names, which stay; "format" counts up when one is
// taken away or changes its meaning.
std::string StatusJson(const ServerStatus& status);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_JSON_H_
