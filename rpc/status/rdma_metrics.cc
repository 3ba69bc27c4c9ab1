// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/rdma_metrics.h"

#include <string>
#include <vector>

namespace farcall {
namespace {

using Labels = MetricFamilies::Labels;
using Devices = std::vector<RdmaDeviceStatus>;

Labels LabelsOf(const RdmaDeviceStatus& device) { return {{"device", device.name}}; }

// One number of each device, in the family that was begun.
template <typename ValueOf>
void OfEach(const Devices& devices, MetricFamilies& families, ValueOf value_of) {
  for (const RdmaDeviceStatus& device : devices) {
    families.Add(static_cast<double>(value_of(device)), LabelsOf(device));
  }
}

void AddNamed(const RdmaDeviceStatus& device, const char* label,
              const std::vector<NamedCount>& counts, MetricFamilies& families) {
  for (const NamedCount& one : counts) {
    Labels labels = LabelsOf(device);
    labels.push_back({label, one.name});
    families.Add(static_cast<double>(one.count), std::move(labels));
  }
}

void AddUpgrades(const UpgradeCounts& upgrades, MetricFamilies& families) {
  families.OneCounter("farcall_rdma_upgrades_total",
                      "Connections of this process, clients' too, that went over to RDMA.",
                      upgrades.upgrades);
  families.OneCounter("farcall_stalls_total",
                      "Times that a peer answered and took nothing of what waited for 5 s, on "
                      "connections that asked for RDMA.",
                      upgrades.stalls);
  families.OneGauge("farcall_stalled_connections", "Connections where that is so now.",
                    upgrades.stalled);
  families.Counter(
      "farcall_rdma_fallbacks_total",
      "Times that a connection which asked for RDMA stayed on TCP or fell back to it.");
  for (size_t i = 0; i < kWhyNotRdmaCount; ++i) {
    if (upgrades.fallbacks[i] == 0) continue;
    families.Add(static_cast<double>(upgrades.fallbacks[i]),
                 {{"reason", std::string(Name(static_cast<WhyNotRdma>(i)))}});
  }
}

void AddHost(const RdmaStatus& rdma, MetricFamilies& families) {
  families.OneGauge("farcall_rdma_control_answered",
                    "1 if the RDMA control loop answered this scrape within 500 ms, else 0.",
                    rdma.answered ? 1 : 0);
  if (rdma.answered) {
    families.OneGauge("farcall_rdma_control_answer_seconds",
                      "How long the RDMA control loop took to answer.", rdma.answer_seconds);
    families.OneGauge("farcall_rdma_setups", "RDMA connections that are being set up.",
                      rdma.setups);
    families.OneGauge("farcall_rdma_incoming_setups", "Those of them that peers began.",
                      rdma.incoming_setups);
  }
  const RdmaMemoryStatus& memory = rdma.memory;
  families.OneGauge("farcall_rdma_registered_bytes",
                    "Memory registered with RDMA devices, of all devices together.",
                    memory.registered_bytes);
  families.OneCounter("farcall_rdma_registrations_total", "Regions registered with a device.",
                      memory.registrations);
  families.OneCounter("farcall_rdma_registration_failures_total",
                      "Regions that a device refused; what lies in them is copied to be sent.",
                      memory.failures);
  families.OneCounter("farcall_rdma_registration_seconds_total", "Time that registrations took.",
                      memory.registration_seconds);
}

void AddPorts(const Devices& devices, MetricFamilies& families) {
  const auto of_each = [&](auto add) {
    for (const RdmaDeviceStatus& device : devices) {
      for (const RdmaPortStatus& port : device.ports) {
        Labels labels = LabelsOf(device);
        labels.push_back({"port", std::to_string(port.number)});
        add(port, std::move(labels));
      }
    }
  };
  families.Gauge("farcall_rdma_port_active", "1 if the port of the device is active, else 0.");
  of_each([&](const RdmaPortStatus& port, Labels labels) {
    families.Add(port.active ? 1 : 0, std::move(labels));
  });
  families.Counter("farcall_rdma_port_losses_total",
                   "Packets that the port counted as out of order, lost or sent again, of all that "
                   "use it, by the kernel's names; none where the kernel does not show them.");
  of_each([&](const RdmaPortStatus& port, const Labels& labels) {
    for (const NamedCount& one : port.losses) {
      Labels named = labels;
      named.push_back({"counter", one.name});
      families.Add(static_cast<double>(one.count), std::move(named));
    }
  });
}

void AddDevices(const Devices& devices, MetricFamilies& families) {
  families.Gauge("farcall_rdma_device_info", "1; what the device is, and why it is not used.");
  for (const RdmaDeviceStatus& device : devices) {
    Labels labels = LabelsOf(device);
    labels.push_back({"link_layer", device.link_layer});
    labels.push_back({"why_not", std::string(Name(device.why))});
    families.Add(1, std::move(labels));
  }
  families.Gauge("farcall_rdma_device_usable", "1 if connections may use the device, else 0.");
  OfEach(devices, families,
         [](const auto& device) { return device.why == WhyNotRdma::kInUse ? 1 : 0; });
  AddPorts(devices, families);
  families.Counter("farcall_rdma_device_removals_total",
                   "Times that the device went away or failed while it was in use.");
  OfEach(devices, families, [](const auto& device) { return device.removals; });
  families.Counter("farcall_rdma_async_events_total", "Events of the device, by type.");
  for (const auto& device : devices) AddNamed(device, "type", device.events, families);
  families.Gauge("farcall_rdma_queue_pairs",
                 "Queue pairs on the device, with those that are set up or ended.");
  OfEach(devices, families, [](const auto& device) { return device.queue_pairs; });
  families.Counter("farcall_rdma_queue_pairs_created_total", "Queue pairs that were created.");
  OfEach(devices, families, [](const auto& device) { return device.queue_pairs_ever; });
}

void AddConnections(const Devices& devices, MetricFamilies& families) {
  families.Gauge("farcall_rdma_connections", "RDMA connections on the device.");
  OfEach(devices, families, [](const auto& device) { return device.traffic.connections; });
  families.Counter("farcall_rdma_connections_opened_total", "RDMA connections that were made.");
  OfEach(devices, families, [](const auto& device) { return device.traffic.connections_ever; });
  families.Counter("farcall_rdma_breaks_total",
                   "RDMA connections by the status of their first bad completion; wr_flush_err is "
                   "also left by ends in order.");
  for (const auto& device : devices) AddNamed(device, "status", device.traffic.breaks, families);
}

void AddTraffic(const Devices& devices, MetricFamilies& families) {
  const auto counter = [&](const char* name, const char* help, uint64_t RdmaTraffic::*count) {
    families.Counter(name, help);
    OfEach(devices, families, [&](const auto& device) { return device.traffic.*count; });
  };
  counter("farcall_rdma_received_bytes_total", "Bytes that came by RDMA.", &RdmaTraffic::bytes_in);
  counter("farcall_rdma_sent_bytes_total", "Bytes that left by RDMA.", &RdmaTraffic::bytes_out);
  counter("farcall_rdma_received_messages_total",
          "Messages that came, with those that only tell credits.", &RdmaTraffic::messages_in);
  counter("farcall_rdma_sent_messages_total",
          "Work requests that were posted to send queues, each a message.",
          &RdmaTraffic::messages_out);
  counter("farcall_rdma_doorbells_total", "Calls that posted them.", &RdmaTraffic::doorbells);
  counter("farcall_rdma_completions_total", "Completions that were polled.",
          &RdmaTraffic::completions);
  families.Counter("farcall_rdma_send_waits_total",
                   "Times that a connection with bytes to send began to wait, and for what.");
  for (const RdmaDeviceStatus& device : devices) {
    const RdmaTraffic& traffic = device.traffic;
    for (const auto& [wanted, count] :
         {std::pair("credits", traffic.credit_waits), std::pair("slots", traffic.slot_waits),
          std::pair("memory", traffic.memory_waits)}) {
      Labels labels = LabelsOf(device);
      labels.push_back({"wanted", wanted});
      families.Add(static_cast<double>(count), std::move(labels));
    }
  }
  families.Gauge("farcall_rdma_receive_slots", "Room in the shared receive queues.");
  OfEach(devices, families, [](const auto& device) { return device.traffic.receive_slots; });
  families.Gauge("farcall_rdma_receives_posted", "Receives that are posted there.");
  OfEach(devices, families, [](const auto& device) { return device.traffic.receives_posted; });
  families.Gauge("farcall_rdma_receives_promised", "Those of them that peers may use.");
  OfEach(devices, families, [](const auto& device) { return device.traffic.receives_promised; });
  families.Gauge("farcall_rdma_receives_lost",
                 "Receives that are, or may be, gone with queue pairs that had taken them.");
  OfEach(devices, families, [](const auto& device) { return device.traffic.receives_lost; });
  counter("farcall_rdma_silent_ends_total",
          "Queue pairs of which the device did not say in time that they gave up their receives.",
          &RdmaTraffic::silent_ends);
}

}  // namespace

void AddRdmaMetrics(const RuntimeStatus& runtime, MetricFamilies& families) {
  AddUpgrades(runtime.upgrades, families);
  AddHost(runtime.rdma, families);
  AddDevices(runtime.rdma.devices, families);
  AddConnections(runtime.rdma.devices, families);
  AddTraffic(runtime.rdma.devices, families);
  families.Counter("farcall_copied_bytes_total",
                   "Bytes that were copied although they could have stayed, by cause.");
  for (size_t i = 0; i < kCopyCauses; ++i) {
    families.Add(static_cast<double>(runtime.copied.by_cause[i]),
                 {{"cause", std::string(ToString(static_cast<CopyCause>(i)))}});
  }
}

}  // namespace farcall
