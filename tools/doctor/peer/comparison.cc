// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/comparison.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/common/figures/number_text.h"
#include "tools/doctor/checks/facts.h"
#include "tools/doctor/checks/queues.h"
#include "tools/farcall/text/text_table.h"

namespace farcall::doctor {
namespace {

constexpr const char* kCheck = "peer";

const ComparisonRow* Find(const Comparison& comparison, const std::string& what) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.what == what && row.trouble.empty()) return &row;
  }
  return nullptr;
}

Finding Carried(const Comparison& comparison) {
  if (comparison.reason == "in_use") {
    return Ok(kCheck, comparison.host, "calls to it go over RDMA");
  }
  if (comparison.reason == LibraryVerdict::kNotTold) {
    return Degraded(kCheck, comparison.host, comparison.detail,
                    "it could not be asked over RDMA, though it answered before",
                    "doctor on that host, and the same again");
  }
  return Degraded(kCheck, comparison.host, absl::StrCat(comparison.reason, ": ", comparison.detail),
                  "calls to it go over TCP",
                  absl::StrCat("docs/why-is-rdma-off.md, ", comparison.reason,
                               "; the peer's own report says: ", comparison.peer_summary));
}

Watched LoadOf(const Comparison& comparison) {
  return {absl::StrFormat("in %.3g s of load", comparison.seconds), comparison.reason == "in_use"};
}

}  // namespace

Findings CheckLoad(const Comparison& comparison, const std::vector<LoadedQueue>& queues) {
  Findings findings;
  for (const LoadedQueue& queue : queues) {
    findings.push_back(CheckQueues(queue.device, queue.moved, queue.priority, LoadOf(comparison)));
  }
  return findings;
}

void WriteFields(const ComparisonRow& row, JsonWriter& json) {
  json.Field("what", row.what);
  json.Field("by", row.by);
  json.Field("trouble", row.trouble);
  json.Field("p50_us", row.p50_us);
  json.Field("p99_us", row.p99_us);
  json.Field("bytes_per_second", row.bytes_per_second);
}

std::string ToText(const Comparison& comparison) {
  cli::TextTable table({0, 1});
  table.Add({"", "by", "p50 us", "p99 us", "MB/s"});
  std::string troubles;
  for (const ComparisonRow& row : comparison.rows) {
    if (!row.trouble.empty()) {
      table.Add({row.what, row.by, "-", "-", "-"});
      absl::StrAppend(&troubles, row.what, ": ", row.trouble, "\n");
      continue;
    }
    table.Add({row.what, row.by, bench::NumberText(row.p50_us), bench::NumberText(row.p99_us),
               bench::NumberText(row.bytes_per_second / 1e6)});
  }
  return table.ToString() + troubles;
}

Finding PeerNotReached(const std::string& peer, const absl::Status& error) {
  return Degraded(
      kCheck, peer, std::string(error.message()),
      "nothing was measured, nor is it known whether RDMA reaches there",
      absl::IsFailedPrecondition(error)
          ? "the same version of doctor on both hosts"
          : "doctor --serve on that host, and a firewall that lets its TCP port through");
}

Findings CheckComparison(const Comparison& comparison) {
  Findings findings = {Carried(comparison)};
  const ComparisonRow* const raw = Find(comparison, "raw verbs");
  const ComparisonRow* const rdma = Find(comparison, "farcall over rdma");
  const ComparisonRow* const tcp = Find(comparison, "farcall over tcp");
  if (raw != nullptr && rdma == nullptr && comparison.reason != "in_use") {
    findings.push_back(Degraded(kCheck, comparison.host, "raw verbs reach it, and farcall does not",
                                "the network is not the cause", "the reason above, at both ends"));
  }
  if (raw == nullptr && rdma != nullptr) {
    findings.push_back(Unknown(kCheck, comparison.host, "raw verbs were not measured",
                               "there is nothing to compare with"));
  }
  if (raw != nullptr && rdma != nullptr && raw->bytes_per_second > 0 && raw->p50_us > 0) {
    findings.push_back(
        Ok(kCheck, comparison.host,
           absl::StrFormat("farcall over RDMA: %.0f %% of the bandwidth of raw verbs, %.1f us more "
                           "latency",
                           100 * rdma->bytes_per_second / raw->bytes_per_second,
                           rdma->p50_us - raw->p50_us)));
  }
  if (tcp != nullptr && rdma != nullptr && rdma->p50_us > tcp->p50_us &&
      rdma->bytes_per_second < tcp->bytes_per_second) {
    findings.push_back(
        Degraded(kCheck, comparison.host, "RDMA is slower than TCP, in latency and in bandwidth",
                 "so are devices in software (rxe, siw); an adapter loses packets, or runs "
                 "behind a narrow slot",
                 "counters and pci of this report, at both ends"));
  }
  for (const LoadedQueue& queue : comparison.peers_queues) {
    Finding finding = CheckQueues(comparison.host, queue.moved, queue.priority, LoadOf(comparison));
    // A device of the peer is none of this host's.
    finding.check = kCheck;
    finding.finding = absl::StrCat("there, ", queue.device, ", ", finding.finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace farcall::doctor
