// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_LOG_H_
#define FARCALL_RPC_LOG_H_

#include "rpc/options.h"

namespace farcall {

// Lines go to spdlog's logger "farcall": the program's own if it has registered one by
// that name when this is called, else one that writes to standard error.
LogSink SpdlogSink();

}  // namespace farcall

#endif  // FARCALL_RPC_LOG_H_
