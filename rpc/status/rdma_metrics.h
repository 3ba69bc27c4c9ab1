// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_RDMA_METRICS_H_
#define FARCALL_RPC_STATUS_RDMA_METRICS_H_

#include "rpc/status/metric_families.h"
#include "rpc/status/runtime_status.h"

namespace farcall {

// The families farcall_rdma_...: labels are names of devices (a few), of reasons, of completion
// statuses and of device events (closed lists).
void AddRdmaMetrics(const RuntimeStatus& runtime, MetricFamilies& families);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_RDMA_METRICS_H_
