// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_PROCESS_STATUS_H_
#define FARCALL_RPC_STATUS_PROCESS_STATUS_H_

#include "rpc/status/server_status.h"

namespace farcall {

// Of this process, by /proc; what cannot be read there is 0. Takes as long as it takes to list
// the open descriptors: milliseconds for tens of thousands.
ProcessStatus ReadProcessStatus();

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_PROCESS_STATUS_H_
