// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/dump_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace farcall {
namespace {

using absl::StrAppend;
using absl::StrCat;

std::string Time(PastEvent::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(time), absl::UTCTimeZone());
}

// "retry_exc_err 3, wr_flush_err 1"; "none".
std::string Text(const std::vector<NamedCount>& counts) {
  if (counts.empty()) return "none";
  return absl::StrJoin(counts, ", ", [](std::string* out, const NamedCount& one) {
    StrAppend(out, one.name, " ", one.count);
  });
}

std::string Limit(uint64_t bytes) {
  return bytes == ProcessStatus::kUnlimited ? "unlimited" : StrCat(bytes);
}

std::string Why(WhyNotRdma why, absl::string_view detail) {
  if (why == WhyNotRdma::kInUse) return "usable";
  const std::string behind = detail.empty() ? "" : StrCat(" (", detail, ")");
  return StrCat("not usable: ", Name(why), ": ", Explain(why), behind);
}

void AddProcess(const ServerStatus& status, std::string& out) {
  const ProcessStatus& process = status.process;
  StrAppend(&out, "\n[process]\nkernel ", process.kernel, "\npid ", process.pid, "\nthreads ",
            process.threads, "\nopen_fds ", process.open_fds, " of ", process.max_fds,
            "\nresident_bytes ", process.resident_bytes, "\nvirtual_bytes ", process.virtual_bytes,
            "\ncpu_seconds ", process.cpu_seconds, "\nmemlock_limit_bytes ",
            Limit(process.memlock_bytes), "\npinned_bytes ", process.pinned_bytes, "\n");
}

void AddPool(const BlockPoolStats& pool, std::string& out) {
  StrAppend(&out, "\n[pool]\nmapped_bytes ", pool.region_bytes, "\nused_bytes ", pool.used_bytes,
            "\nmax_bytes ", pool.max_bytes, "\nallocations ", pool.allocations, "\nexhausted ",
            pool.exhausted, "\nfailed_growths ", pool.failed_growths, "\nhuge_pages ",
            pool.huge_pages ? "yes" : "no", "\n");
}

void AddTraffic(const RdmaTraffic& traffic, std::string& out) {
  StrAppend(&out, "  connections ", traffic.connections, " now, ", traffic.connections_ever,
            " ever; breaks: ", Text(traffic.breaks), "\n  in ", traffic.bytes_in, " bytes, ",
            traffic.messages_in, " messages; out ", traffic.bytes_out, " bytes, ",
            traffic.messages_out, " messages, ", traffic.doorbells, " doorbells\n  completions ",
            traffic.completions, "\n  waits for credits ", traffic.credit_waits, ", for slots ",
            traffic.slot_waits, ", for memory ", traffic.memory_waits, "\n");
  StrAppend(&out, "  receives ", traffic.receives_posted, " posted of ", traffic.receive_slots,
            ", ", traffic.receives_promised, " promised, ", traffic.receives_lost, " lost with ",
            traffic.silent_ends, " queue pairs\n");
}

void AddDevice(const RdmaDeviceStatus& device, std::string& out) {
  StrAppend(&out, "device ", device.name, " (", device.link_layer,
            "): ", device.present ? Why(device.why, device.why_detail) : "gone",
            device.open ? ", open" : "", "\n");
  for (const RdmaPortStatus& port : device.ports) {
    StrAppend(&out, "  port ", port.number, port.active ? " active" : " down", ", mtu ",
              port.mtu_bytes, "\n");
  }
  StrAppend(&out, "  addresses ", absl::StrJoin(device.addresses, ", "), "\n  queue pairs ",
            device.queue_pairs, " now, ", device.queue_pairs_ever, " ever; loops ", device.loops,
            "; removals ", device.removals, "\n  peers read: ", Explain({.why = device.reads}),
            "\n  async events: ", Text(device.events), "\n");
  AddTraffic(device.traffic, out);
}

void AddRdma(const RuntimeStatus& runtime, std::string& out) {
  const RdmaStatus& rdma = runtime.rdma;
  StrAppend(&out, "\n[rdma]\n");
  if (!rdma.answered) {
    StrAppend(&out, "the RDMA control loop did not answer in time\n");
  } else {
    StrAppend(
        &out, "control loop answered in ", rdma.answer_seconds * 1e6, " us\nhost ",
        rdma.looked ? Why(rdma.why, rdma.why_detail) : "not looked at: RDMA was not asked for",
        "\nsetups ", rdma.setups, ", incoming ", rdma.incoming_setups, "\n");
  }
  StrAppend(&out, "upgrades ", runtime.upgrades.upgrades, "\nstalls ", runtime.upgrades.stalls,
            ", now ", runtime.upgrades.stalled, "\n");
  for (size_t i = 0; i < kWhyNotRdmaCount; ++i) {
    if (runtime.upgrades.fallbacks[i] == 0) continue;
    StrAppend(&out, "fallbacks ", Name(static_cast<WhyNotRdma>(i)), " ",
              runtime.upgrades.fallbacks[i], "\n");
  }
  const RdmaMemoryStatus& memory = rdma.memory;
  StrAppend(&out, "registered_bytes ", memory.registered_bytes, " of ", memory.region_bytes, " in ",
            memory.regions, " regions; registrations ", memory.registrations, " in ",
            memory.registration_seconds, " s, failures ", memory.failures, "\n");
  for (size_t i = 0; i < kCopyCauses; ++i) {
    StrAppend(&out, "copied_bytes ", ToString(static_cast<CopyCause>(i)), " ",
              runtime.copied.by_cause[i], "\n");
  }
  for (const RdmaDeviceStatus& device : rdma.devices) AddDevice(device, out);
}

void AddEvents(const RuntimeStatus& runtime, std::string& out) {
  StrAppend(&out, "\n[events]\n", runtime.events_forgotten, " older ones forgotten\n");
  for (const PastEvent& event : runtime.events) {
    StrAppend(&out, Time(event.first), " ", event.text);
    if (event.times > 1) StrAppend(&out, " (", event.times, " times, last ", Time(event.last), ")");
    StrAppend(&out, "\n");
  }
}

void AddPairs(absl::string_view head, const std::vector<std::pair<std::string, std::string>>& pairs,
              std::string& out) {
  StrAppend(&out, "\n[", head, "]\n");
  for (const auto& [name, value] : pairs) StrAppend(&out, name, " ", value, "\n");
}

// Where a value came from, if not from the defaults.
void AddRuntimeOptions(const std::vector<OptionStatus>& options, std::string& out) {
  StrAppend(&out, "\n[runtime options]\n");
  for (const OptionStatus& one : options) {
    StrAppend(&out, one.name, " ", one.value);
    if (one.from != "default") StrAppend(&out, "   from ", one.from);
    StrAppend(&out, "\n");
  }
}

void AddLoops(const std::vector<LoopStatus>& loops, std::string& out) {
  for (size_t i = 0; i < loops.size(); ++i) {
    const LoopStatus& loop = loops[i];
    StrAppend(&out, "loop ", i, ": ");
    if (!loop.answered) {
      StrAppend(&out, "no answer in time\n");
      continue;
    }
    StrAppend(&out, "answered in ", loop.answer_seconds * 1e6, " us, connections ",
              loop.connections, ", turns ", loop.turns, ", sleeps ", loop.sleeps, "\n");
  }
}

// By what it goes, and why not by RDMA.
void AddWay(const ConnectionInfo& info, std::string& out) {
  if (info.why_not_rdma != WhyNotRdma::kInUse) {
    StrAppend(&out, ", not rdma: ", Name(info.why_not_rdma), info.why_detail.empty() ? "" : ": ",
              info.why_detail);
  }
  const RdmaUse& rdma = info.rdma;
  if (rdma.upgrades > 0) {
    StrAppend(&out, ", generation ", rdma.generation, ", credits ", rdma.credits, ", upgrades ",
              rdma.upgrades, ", fallbacks ", rdma.fallbacks, " (", Name(rdma.last_fallback),
              "), waits ", rdma.credit_waits, "/", rdma.slot_waits, "/", rdma.memory_waits);
  }
  if (rdma.reads.why != ReadsWhy::kNever) {
    StrAppend(&out, ", peer reads: ", Explain(rdma.reads));
  }
  if (rdma.fetches || rdma.fetched > 0) StrAppend(&out, ", fetched ", rdma.fetched);
  for (const RailInfo& rail : info.rails) {
    StrAppend(&out, ", rail ", rail.generation, " ", rail.device, "/", rail.port, " ",
              static_cast<int>(rail.share * 100 + 0.5), "%");
  }
  StrAppend(&out, "\n");
}

void AddClients(const ClientsStatus& clients, std::string& out) {
  StrAppend(&out, "\n[channels] ", clients.some.size(), " connections shown of ", clients.sessions,
            "\n");
  AddLoops(clients.loops, out);
  for (const ClientConnectionStatus& one : clients.some) {
    const ConnectionInfo& info = one.info;
    StrAppend(
        &out, "to ", one.server, " ", ToString(info.transport), info.device.empty() ? "" : " ",
        info.device, info.set_up == "tcp" ? " set up over tcp" : "", info.wire.empty() ? "" : " ",
        info.wire, info.tls.empty() ? "" : " tls", one.connected ? "" : " not connected", ", loop ",
        one.loop, ", calls ", one.calls, " now, in ", info.bytes_read, " out ", info.bytes_written);
    AddWay(info, out);
    if (!info.device_why.empty()) StrAppend(&out, "  ", info.device_why, "\n");
  }
}

void AddServer(const ServerStatus& status, std::string& out) {
  const CountersStatus& counters = status.counters;
  StrAppend(&out, "\n[server]\nlisten ", status.listen_address, "\nuptime_seconds ",
            status.uptime_seconds, status.stopping ? "\nstopping" : "", "\nunanswered ",
            status.unanswered, "\nrunning ", status.running, "\nhandler_threads ",
            status.handler_threads, "\nwaiting ", status.waiting, "\nconnections ",
            status.connections.open, " (tcp ", status.connections.tcp, ", rdma ",
            status.connections.rdma, ")\naccepted ", counters.accepted, ", over limit ",
            counters.over_max_connections, ", timed out ", counters.timed_out, ", bad peers ",
            counters.bad_peers, "\n");
  StrAppend(&out, "refused: logoff ", counters.refused_logoff, ", limit ", counters.refused_limit,
            ", not found ", counters.not_found, ", auth ", counters.auth_failed, ", late ",
            counters.late, "; long handlers ", counters.long_handlers, "\n");
  StrAppend(&out, "loops taken over ", status.runtime.loops_taken_over, ", held up ",
            status.runtime.loops_held_up, "\n");
  AddLoops(status.loops, out);
}

void AddConnection(const ConnectionStatus& connection, std::string& out) {
  const ConnectionInfo& info = connection.info;
  const bool unix_client = info.peer.family() == AddressFamily::kNone;
  StrAppend(&out, unix_client ? "(unix)" : info.peer.ToString(), " ", ToString(info.transport),
            info.device.empty() ? "" : " ", info.device,
            info.set_up == "tcp" ? " set up over tcp" : "", info.wire.empty() ? "" : " ", info.wire,
            info.tls.empty() ? "" : " tls", " ", connection.protocol, ", age ",
            connection.age_seconds, " s, loop ", connection.loop, ", calls ", connection.calls,
            " now, ", connection.requests, " ever, in ", info.bytes_read, " out ",
            info.bytes_written);
  AddWay(info, out);
}

void AddMethods(const std::vector<MethodStatus>& methods, std::string& out) {
  StrAppend(&out, "\n[methods]\n");
  for (const MethodStatus& method : methods) {
    const MethodSnapshot& total = method.rates.total;
    StrAppend(&out, method.service, ".", method.method, " calls ", total.ended_count(), ", errors ",
              total.errors(), ", refused ", total.refused_count(), ", in flight ",
              total.in_flight(), "\n");
  }
}

}  // namespace

std::string DumpText(const ServerStatus& status) {
  std::string out = StrCat("farcall ", status.version, " dump, ", Time(status.process.taken), "\n");
  AddProcess(status, out);
  AddPool(status.pool, out);
  AddRdma(status.runtime, out);
  AddRuntimeOptions(status.runtime.options, out);
  AddEvents(status.runtime, out);
  AddClients(status.runtime.clients, out);
  if (status.listen_address.empty()) return out;
  AddServer(status, out);
  AddPairs("server options", status.options, out);
  AddMethods(status.methods, out);
  StrAppend(&out, "\n[connections] ", status.connections.some.size(), " shown of ",
            status.connections.open, "\n");
  for (const ConnectionStatus& one : status.connections.some) AddConnection(one, out);
  return out;
}

}  // namespace farcall
