// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_LOG_H_
#define FARCALL_RPC_LOG_H_

#include "rpc/options.h"

namespace farcall {

// Lines go to spdlog's default logger, prefixed with "farcall: ".
LogSink SpdlogSink();

}  // namespace farcall

#endif  // FARCALL_RPC_LOG_H_
