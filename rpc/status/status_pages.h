// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_STATUS_PAGES_H_
#define FARCALL_RPC_STATUS_STATUS_PAGES_H_

#include <memory>
#include <string>

#include "rpc/http/http_page.h"
#include "rpc/status/server_status.h"
#include "rpc/status/status_collector.h"

namespace farcall {

// One HTML page that needs nothing from anywhere else: it shows this status, then asks the address
// it came from, with ?format=json, for the next ones.
std::string StatusPage(const ServerStatus& status);

// /status, for people and as JSON ("?format=json", or a client that accepts application/json and
// not text/html), and /metrics for Prometheus.
void AddStatusPages(std::shared_ptr<StatusCollector> collector, HttpPages& pages);

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_PAGES_H_
