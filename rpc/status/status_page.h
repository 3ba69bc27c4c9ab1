// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_STATUS_PAGE_H_
#define FARCALL_RPC_STATUS_STATUS_PAGE_H_

#include <string>

#include "rpc/status/server_status.h"

namespace farcall {

// One HTML page that needs nothing from anywhere else: it shows this status, then asks the address
// it came from, with ?format=json, for the next ones.
std::string StatusPage(const ServerStatus& status);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_PAGE_H_
