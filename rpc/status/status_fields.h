// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_STATUS_FIELDS_H_
#define FARCALL_RPC_STATUS_STATUS_FIELDS_H_

#include <string>

#include "rpc/status/server_status.h"

namespace farcall {

// One JSON object. docs/status.md lists its names, which stay; "format" counts up when one is
// taken away or changes its meaning.
std::string StatusJson(const ServerStatus& status);

// What a report of a trouble carries: the same fields as text for people and for mail, with the
// connections of channels. Names of users and subjects of certificates are left out. Without a
// listen address it is that of a runtime: what belongs to a server is left out too.
std::string DumpText(ServerStatus status);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_FIELDS_H_
