// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_RDMA_JSON_H_
#define FARCALL_RPC_STATUS_RDMA_JSON_H_

#include "rpc/status/json_writer.h"
#include "rpc/status/runtime_status.h"
#include "transport/connection_info.h"

namespace farcall {

// The field "rdma" of a status.
void WriteRdma(const RuntimeStatus& runtime, JsonWriter& json);
// The field "rdma" of a connection.
void WriteRdmaUse(const ConnectionInfo& info, JsonWriter& json);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_RDMA_JSON_H_
