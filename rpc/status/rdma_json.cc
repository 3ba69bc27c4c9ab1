// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/rdma_json.h"

#include <chrono>
#include <string>
#include <vector>

#include "rpc/status/json_parts.h"

namespace farcall {
namespace {

double UnixSeconds(PastEvent::Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

void WriteCounts(absl::string_view key, const std::vector<NamedCount>& counts, JsonWriter& json) {
  WriteObject(key, json, [&] {
    for (const NamedCount& one : counts) json.Field(one.name, one.count);
  });
}

void WriteWhy(WhyNotRdma why, absl::string_view detail, JsonWriter& json) {
  json.Field("why_not", Name(why));
  json.Field("why_text", Explain(why));
  json.Field("why_detail", detail);
}

void WriteTraffic(const RdmaTraffic& traffic, JsonWriter& json) {
  json.Field("connections", traffic.connections);
  json.Field("connections_ever", traffic.connections_ever);
  WriteCounts("breaks", traffic.breaks, json);
  json.Field("bytes_in", traffic.bytes_in);
  json.Field("bytes_out", traffic.bytes_out);
  json.Field("messages_in", traffic.messages_in);
  json.Field("messages_out", traffic.messages_out);
  json.Field("doorbells", traffic.doorbells);
  json.Field("completions", traffic.completions);
  json.Field("credit_waits", traffic.credit_waits);
  json.Field("slot_waits", traffic.slot_waits);
  json.Field("memory_waits", traffic.memory_waits);
  json.Field("receive_slots", traffic.receive_slots);
  json.Field("receives_posted", traffic.receives_posted);
  json.Field("receives_promised", traffic.receives_promised);
  json.Field("receives_lost", traffic.receives_lost);
  json.Field("silent_ends", traffic.silent_ends);
}

void WriteDevice(const RdmaDeviceStatus& device, JsonWriter& json) {
  json.Field("name", device.name);
  json.Field("link_layer", device.link_layer);
  json.Field("present", device.present);
  json.Field("open", device.open);
  WriteWhy(device.why, device.why_detail, json);
  WriteObjects("ports", device.ports, json, [&](const RdmaPortStatus& port) {
    json.Field("number", port.number);
    json.Field("active", port.active);
    json.Field("mtu_bytes", port.mtu_bytes);
    WriteCounts("losses", port.losses, json);
  });
  json.Key("addresses");
  json.BeginArray();
  for (const std::string& address : device.addresses) json.Value(address);
  json.EndArray();
  json.Field("queue_pairs", device.queue_pairs);
  json.Field("queue_pairs_ever", device.queue_pairs_ever);
  json.Field("loops", device.loops);
  json.Field("removals", device.removals);
  json.Field("reads", Name(device.reads));
  WriteCounts("async_events", device.events, json);
  WriteTraffic(device.traffic, json);
}

void WriteMemory(const RdmaMemoryStatus& memory, JsonWriter& json) {
  WriteObject("memory", json, [&] {
    json.Field("regions", memory.regions);
    json.Field("region_bytes", memory.region_bytes);
    json.Field("registered_bytes", memory.registered_bytes);
    json.Field("registrations", memory.registrations);
    json.Field("failures", memory.failures);
    json.Field("registration_s", memory.registration_seconds);
    json.Field("relaxed_ordering", memory.relaxed_ordering);
  });
}

void WriteEvents(const RuntimeStatus& runtime, JsonWriter& json) {
  json.Field("events_forgotten", runtime.events_forgotten);
  WriteObjects("events", runtime.events, json, [&](const PastEvent& event) {
    json.Field("first_unix_s", UnixSeconds(event.first));
    json.Field("last_unix_s", UnixSeconds(event.last));
    json.Field("times", event.times);
    json.Field("text", event.text);
  });
}

}  // namespace

void WriteRdma(const RuntimeStatus& runtime, JsonWriter& json) {
  const RdmaStatus& rdma = runtime.rdma;
  WriteObject("rdma", json, [&] {
    json.Field("upgrades", runtime.upgrades.upgrades);
    WriteNonZero("fallbacks", runtime.upgrades.fallbacks, json,
                 [](size_t i) { return Name(static_cast<WhyNotRdma>(i)); });
    json.Field("stalls", runtime.upgrades.stalls);
    json.Field("stalled", runtime.upgrades.stalled);
    json.Field("answered", rdma.answered);
    json.Field("answer_us", rdma.answer_seconds * 1e6);
    json.Field("looked", rdma.looked);
    WriteWhy(rdma.why, rdma.why_detail, json);
    json.Field("setups", rdma.setups);
    json.Field("incoming_setups", rdma.incoming_setups);
    WriteObjects("devices", rdma.devices, json,
                 [&](const RdmaDeviceStatus& device) { WriteDevice(device, json); });
    WriteMemory(rdma.memory, json);
    WriteObject("copied_bytes", json, [&] {
      for (size_t i = 0; i < kCopyCauses; ++i) {
        json.Field(ToString(static_cast<CopyCause>(i)), runtime.copied.by_cause[i]);
      }
    });
    WriteEvents(runtime, json);
  });
}

void WriteRdmaUse(const ConnectionInfo& info, JsonWriter& json) {
  const RdmaUse& rdma = info.rdma;
  WriteObject("rdma", json, [&] {
    json.Field("generation", rdma.generation);
    json.Field("credits", rdma.credits);
    json.Field("upgrades", rdma.upgrades);
    json.Field("fallbacks", rdma.fallbacks);
    json.Field("last_fallback", rdma.fallbacks == 0 ? "" : Name(rdma.last_fallback));
    json.Field("messages_in", rdma.messages_in);
    json.Field("messages_out", rdma.messages_out);
    WriteObject("reads", json, [&] {
      json.Field("why", Name(rdma.reads.why));
      json.Field("detail", Explain(rdma.reads));
      json.Field("send_bytes_per_s", rdma.reads.send_rate);
      json.Field("read_bytes_per_s", rdma.reads.read_rate);
    });
    json.Field("fetches", rdma.fetches);
    json.Field("fetched", rdma.fetched);
    json.Field("credit_waits", rdma.credit_waits);
    json.Field("slot_waits", rdma.slot_waits);
    json.Field("memory_waits", rdma.memory_waits);
    json.Field("copied_in", info.copied.received());
    json.Field("copied_out", info.copied.sent());
    WriteObjects("rails", info.rails, json, [&](const RailInfo& rail) {
      json.Field("generation", rail.generation);
      json.Field("device", rail.device);
      json.Field("port", rail.port);
      json.Field("bytes_out", rail.bytes_out);
      json.Field("share", rail.share);
    });
  });
}

}  // namespace farcall
