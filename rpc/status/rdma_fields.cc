// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/rdma_fields.h"

#include <vector>

namespace farcall {
namespace {

void WriteCounts(absl::string_view key, const std::vector<NamedCount>& counts, FieldWriter& out) {
  out.Object(key, [&] {
    for (const NamedCount& one : counts) out.Field(one.name, one.count);
  });
}

void WriteWhy(WhyNotRdma why, absl::string_view detail, FieldWriter& out) {
  out.Field("why_not", Name(why));
  out.Field("why_text", Explain(why));
  out.Field("why_detail", detail);
}

void WriteTraffic(const RdmaTraffic& traffic, FieldWriter& out) {
  out.Field("connections", traffic.connections);
  out.Field("connections_ever", traffic.connections_ever);
  WriteCounts("breaks", traffic.breaks, out);
  out.Field("bytes_in", traffic.bytes_in);
  out.Field("bytes_out", traffic.bytes_out);
  out.Field("messages_in", traffic.messages_in);
  out.Field("messages_out", traffic.messages_out);
  out.Field("doorbells", traffic.doorbells);
  out.Field("completions", traffic.completions);
  out.Field("credit_waits", traffic.credit_waits);
  out.Field("slot_waits", traffic.slot_waits);
  out.Field("memory_waits", traffic.memory_waits);
  out.Field("receive_slots", traffic.receive_slots);
  out.Field("receives_posted", traffic.receives_posted);
  out.Field("receives_promised", traffic.receives_promised);
  out.Field("receives_lost", traffic.receives_lost);
  out.Field("silent_ends", traffic.silent_ends);
}

void WriteDevice(const RdmaDeviceStatus& device, FieldWriter& out) {
  out.Field("name", device.name);
  out.Field("link_layer", device.link_layer);
  out.Field("present", device.present);
  out.Field("open", device.open);
  WriteWhy(device.why, device.why_detail, out);
  out.Objects("ports", device.ports, [&](const RdmaPortStatus& port) {
    out.Field("number", port.number);
    out.Field("active", port.active);
    out.Field("mtu_bytes", port.mtu_bytes);
    WriteCounts("losses", port.losses, out);
  });
  out.Values("addresses", device.addresses);
  out.Field("queue_pairs", device.queue_pairs);
  out.Field("queue_pairs_ever", device.queue_pairs_ever);
  out.Field("loops", device.loops);
  out.Field("removals", device.removals);
  out.Field("reads", Name(device.reads));
  WriteCounts("async_events", device.events, out);
  WriteTraffic(device.traffic, out);
}

void WriteMemory(const RdmaMemoryStatus& memory, FieldWriter& out) {
  out.Object("memory", [&] {
    out.Field("regions", memory.regions);
    out.Field("region_bytes", memory.region_bytes);
    out.Field("registered_bytes", memory.registered_bytes);
    out.Field("registrations", memory.registrations);
    out.Field("failures", memory.failures);
    out.Field("registration_s", memory.registration_seconds);
    out.Field("relaxed_ordering", memory.relaxed_ordering);
  });
}

void WriteEvents(const RuntimeStatus& runtime, FieldWriter& out) {
  out.Field("events_forgotten", runtime.events_forgotten);
  out.Objects("events", runtime.events, [&](const PastEvent& event) {
    out.Moment("first", event.first);
    out.Moment("last", event.last);
    out.Field("times", event.times);
    out.Field("text", event.text);
  });
}

}  // namespace

void WriteRdma(const RuntimeStatus& runtime, FieldWriter& out) {
  const RdmaStatus& rdma = runtime.rdma;
  out.Object("rdma", [&] {
    out.Field("upgrades", runtime.upgrades.upgrades);
    out.NonZero("fallbacks", runtime.upgrades.fallbacks,
                [](size_t i) { return Name(static_cast<WhyNotRdma>(i)); });
    out.Field("stalls", runtime.upgrades.stalls);
    out.Field("stalled", runtime.upgrades.stalled);
    out.Field("answered", rdma.answered);
    out.Field("answer_us", rdma.answer_seconds * 1e6);
    out.Field("looked", rdma.looked);
    WriteWhy(rdma.why, rdma.why_detail, out);
    out.Field("setups", rdma.setups);
    out.Field("incoming_setups", rdma.incoming_setups);
    out.Objects("devices", rdma.devices,
                [&](const RdmaDeviceStatus& device) { WriteDevice(device, out); });
    WriteMemory(rdma.memory, out);
    out.Object("copied_bytes", [&] {
      for (size_t i = 0; i < kCopyCauses; ++i) {
        out.Field(ToString(static_cast<CopyCause>(i)), runtime.copied.by_cause[i]);
      }
    });
    WriteEvents(runtime, out);
  });
}

void WriteRdmaUse(const ConnectionInfo& info, FieldWriter& out) {
  const RdmaUse& rdma = info.rdma;
  out.Object("rdma", [&] {
    out.Field("generation", rdma.generation);
    out.Field("credits", rdma.credits);
    out.Field("upgrades", rdma.upgrades);
    out.Field("fallbacks", rdma.fallbacks);
    out.Field("last_fallback", rdma.fallbacks == 0 ? "" : Name(rdma.last_fallback));
    out.Field("messages_in", rdma.messages_in);
    out.Field("messages_out", rdma.messages_out);
    out.Object("reads", [&] {
      out.Field("why", Name(rdma.reads.why));
      out.Field("detail", Explain(rdma.reads));
      out.Field("send_bytes_per_s", rdma.reads.send_rate);
      out.Field("read_bytes_per_s", rdma.reads.read_rate);
    });
    out.Field("fetches", rdma.fetches);
    out.Field("fetched", rdma.fetched);
    out.Field("credit_waits", rdma.credit_waits);
    out.Field("slot_waits", rdma.slot_waits);
    out.Field("memory_waits", rdma.memory_waits);
    out.Field("copied_in", info.copied.received());
    out.Field("copied_out", info.copied.sent());
    out.Objects("rails", info.rails, [&](const RailInfo& rail) {
      out.Field("generation", rail.generation);
      out.Field("device", rail.device);
      out.Field("port", rail.port);
      out.Field("bytes_out", rail.bytes_out);
      out.Field("share", rail.share);
    });
  });
}

}  // namespace farcall
