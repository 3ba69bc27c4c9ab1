// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_DUMP_TEXT_H_
#define FARCALL_RPC_STATUS_DUMP_TEXT_H_

#include <string>

#include "rpc/status/server_status.h"

namespace farcall {

// What a report of a trouble carries: all of the status as text for people and for mail. Names of
// users and subjects of certificates are left out. Without a listen address it is that of a
// runtime: what belongs to a server is left out too.
std::string DumpText(const ServerStatus& status);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_DUMP_TEXT_H_
