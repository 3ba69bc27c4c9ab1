// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_STATUS_METRICS_H_
#define FARCALL_RPC_STATUS_STATUS_METRICS_H_

#include <string>
#include <vector>

#include "prometheus/metric_family.h"
#include "rpc/status/server_status.h"

namespace farcall {

// What Prometheus scrapes; docs/status.md lists the names, which stay.
std::vector<prometheus::MetricFamily> StatusMetrics(const ServerStatus& status);
// The same as text, format 0.0.4.
std::string MetricsText(const ServerStatus& status);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_METRICS_H_
