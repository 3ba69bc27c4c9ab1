// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/compare.h"

#include <chrono>
#include <utility>

#include "tools/doctor/peer/queue_counts.h"

namespace farcall::doctor {

absl::StatusOr<Comparison> Compare(const std::string& server, const VerbsApi* api,
                                   Duration how_long, const Progress& progress) {
  auto runtime = QuietRuntime({});
  if (!runtime.ok()) return runtime.status();
  progress("reaching " + server);
  auto greeted = Greet(**runtime, server);
  if (!greeted.ok()) return greeted.status();
  Caller& over_tcp = *greeted->caller;
  Comparison comparison;
  const auto begun = std::chrono::steady_clock::now();
  const auto before = over_tcp.Count();
  comparison.host = greeted->peer.host();
  comparison.peer_summary = greeted->peer.summary();
  comparison.rows.push_back(MeasureRaw(api, over_tcp, greeted->peer, {}, how_long, progress));
  RdmaRow rdma = MeasureRdma(server, {}, how_long, progress);
  comparison.reason = std::move(rdma.reason);
  comparison.detail = std::move(rdma.detail);
  comparison.rows.push_back(std::move(rdma.row));
  comparison.rows.push_back(MeasureTcp(over_tcp, how_long, progress));
  const auto after = over_tcp.Count();
  // A peer that went away said so above.
  if (before.ok() && after.ok()) comparison.peers_queues = MovedOf(*before, *after);
  comparison.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return comparison;
}

}  // namespace farcall::doctor
