// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_RDMA_PARTS_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_RDMA_PARTS_H_

#include "transport/base/episode_log.h"
#include "transport/buffer/block_pool.h"
#include "transport/copy_tally.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/device/port_counts.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"

namespace farcall {

// What every part of the RDMA transport works with. Outlives them all.
struct RdmaParts {
  const VerbsApi& api;
  EventLoop& control;
  BlockPool& pool;
  RdmaRegistrar& registrar;
  const RdmaOptions& options;
  const EpisodeLog::Sink& log;  // may be empty
  PortCounts& ports;
  CopyTally* copied = nullptr;  // may be null

  void Log(absl::string_view line) const {
    if (log) log(line);
  }
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_RDMA_PARTS_H_
