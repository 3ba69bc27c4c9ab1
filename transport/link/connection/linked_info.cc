// SPDX-License-Identifier: Apache-2.0
//
// What a LinkedStream tells of itself.

#include <cstdint>

#include "transport/link/connection/linked_stream.h"
#include "transport/why_not_rdma.h"

namespace farcall {

void LinkedStream::Describe(ConnectionInfo& info) const {
  info.bytes_read = read_;
  info.bytes_written = stream_.sent();
  generations_.AddCounters(info);
  info.rdma.upgrades = upgrades_;
  info.rdma.fallbacks = fallbacks_;
  info.rdma.last_fallback = last_fallback_;
  const Connection* const generation = generations_.Find(stream_.sending_on());
  if (on_rdma() && generation != nullptr) {
    info.transport = TransportKind::kRdma;
    info.why_not_rdma = WhyNotRdma::kInUse;
    const ConnectionInfo of_generation = generation->info();
    info.device = of_generation.device;
    info.device_port = of_generation.device_port;
    info.device_why = of_generation.device_why;
    info.set_up = of_generation.set_up;
    info.rdma.generation = static_cast<uint32_t>(stream_.sending_on());
    info.rdma.credits = of_generation.rdma.credits;
    info.rdma.fetches = of_generation.rdma.fetches;
    info.rdma.reads = of_generation.rdma.reads;
    if (parts_.rails > 1) DescribeRails(info);
    return;
  }
  info.why_not_rdma = ReasonOf(why_not());
  info.why_detail = DetailOf(why_not());
}

void LinkedStream::DescribeRails(ConnectionInfo& info) const {
  uint64_t bytes = 0;
  for (const auto& rail : stream_.rails().all()) {
    const Connection* const generation = generations_.Find(rail->number());
    if (generation == nullptr) continue;
    const ConnectionInfo of_rail = generation->info();
    info.rails.push_back({.generation = rail->number(),
                          .device = of_rail.device,
                          .port = of_rail.device_port,
                          .bytes_out = rail->flight().sent()});
    bytes += rail->flight().sent();
  }
  for (RailInfo& rail : info.rails) {
    if (bytes > 0) rail.share = static_cast<double>(rail.bytes_out) / static_cast<double>(bytes);
  }
}

}  // namespace farcall
