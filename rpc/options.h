// SPDX-License-Identifier: Apache-2.0
//
// Options of channels, servers and the runtime under them. Names and meanings are
// brpc's where brpc has them. Each has a default, a unit and a bound; Validate()
// is called by whoever takes the options. docs/limits.md lists those that limit something.

#ifndef FARCALL_RPC_OPTIONS_H_
#define FARCALL_RPC_OPTIONS_H_

#include "rpc/channel_options.h"
#include "rpc/runtime_options.h"
#include "rpc/server_options.h"

#endif  // FARCALL_RPC_OPTIONS_H_
