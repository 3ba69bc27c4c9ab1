// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_RDMA_FIELDS_H_
#define FARCALL_RPC_STATUS_RDMA_FIELDS_H_

#include "rpc/status/field_writer.h"
#include "rpc/status/runtime_status.h"
#include "transport/connection_info.h"

namespace farcall {

// The field "rdma" of a status.
void WriteRdma(const RuntimeStatus& runtime, FieldWriter& out);
// The field "rdma" of a connection.
void WriteRdmaUse(const ConnectionInfo& info, FieldWriter& out);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_RDMA_FIELDS_H_
