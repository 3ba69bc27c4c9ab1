// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/ask.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tools/doctor/peer/caller.h"

namespace farcall::doctor {
namespace {

// A doctor gives up a driver that hangs after a minute; a path has eight rails and eight networks
// at most, each of which takes its numbers and its set-up.
constexpr std::chrono::seconds kReport{100};
constexpr std::chrono::minutes kMeasure{10};
// Of one answer.
constexpr int kMaxRows = 64;
constexpr int kMaxFindings = 64;

std::string Shown(const std::string& text) { return absl::Utf8SafeCHexEscape(text); }

// `work` for 0 to count - 1, `at_once` threads; returns when all is done.
void ForEach(size_t count, size_t at_once, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(count, at_once); ++i) {
    threads.emplace_back([&] {
      for (size_t mine = next++; mine < count; mine = next++) work(mine);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

ReportResponse Printable(const ReportResponse& told) {
  ReportResponse shown;
  shown.set_status(Shown(told.status()));
  shown.set_summary(Shown(told.summary()));
  for (const ReportResponse::Finding& finding : told.findings()) {
    if (shown.findings_size() == kMaxFindings) break;
    ReportResponse::Finding& each = *shown.add_findings();
    each.set_check(Shown(finding.check()));
    each.set_subject(Shown(finding.subject()));
    each.set_verdict(Shown(finding.verdict()));
    each.set_finding(Shown(finding.finding()));
    each.set_cure(Shown(finding.cure()));
  }
  return shown;
}

ComparisonRow Printable(const MeasureResponse::Row& told) {
  return {Shown(told.what()), Shown(told.by()),        Shown(told.trouble()), told.p50_us(),
          told.p99_us(),      told.bytes_per_second(), Shown(told.rail())};
}

// Calls to the doctors of all nodes: each node is one thread's at a time.
class Asking {
 public:
  Asking(Runtime& runtime, const std::vector<Host>& hosts, double seconds)
      : runtime_(runtime), hosts_(hosts), seconds_(seconds), callers_(hosts.size()) {
    nodes_.resize(hosts.size());
  }

  void Reach(size_t number) {
    const Host& host = hosts_[number];
    ClusterNode& node = nodes_[number];
    node.name = host.name;
    node.trouble = host.trouble;
    if (!node.trouble.empty()) return;
    node.server = host.server.ToString();
    auto greeted = Greet(runtime_, node.server);
    if (node.name.empty()) node.name = greeted.ok() ? greeted->peer.host() : node.server;
    if (!greeted.ok()) {
      node.trouble = std::string(greeted.status().message());
      return;
    }
    node.summary = greeted->peer.summary();
    callers_[number] = std::move(greeted->caller);
    const auto report = callers_[number]->Report(kReport);
    if (!report.ok()) {
      node.summary = std::string(report.status().message());
      return;
    }
    node.report = Printable(*report);
    if (!node.report.summary().empty()) node.summary = node.report.summary();
  }

  PathResult Measure(const Path& path) {
    PathResult result{path};
    MeasureRequest request;
    request.set_address(hosts_[path.to].server.ToString());
    for (const std::string& address : hosts_[path.to].addresses) request.add_addresses(address);
    request.set_seconds(seconds_);
    const auto answer = callers_[path.from]->Measure(request, kMeasure);
    if (!answer.ok()) {
      result.trouble = std::string(answer.status().message());
      return result;
    }
    for (const MeasureResponse::Row& row : answer->rows()) {
      if (result.rows.size() < kMaxRows) result.rows.push_back(Printable(row));
    }
    return result;
  }

  std::vector<size_t> answering() const {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (callers_[i] != nullptr) numbers.push_back(i);
    }
    return numbers;
  }
  std::vector<ClusterNode> TakeNodes() { return std::move(nodes_); }

 private:
  Runtime& runtime_;
  const std::vector<Host>& hosts_;
  const double seconds_;
  std::vector<ClusterNode> nodes_;
  std::vector<std::unique_ptr<Caller>> callers_;  // null: the node does not answer
};

}  // namespace

absl::StatusOr<Cluster> AskCluster(const std::vector<Host>& hosts, double seconds, size_t at_once,
                                   const Progress& progress) {
  const auto begun = std::chrono::steady_clock::now();
  auto runtime = QuietRuntime({"none"});
  if (!runtime.ok()) return runtime.status();
  Asking asking(**runtime, hosts, seconds);
  progress(absl::StrCat("asking ", hosts.size(), " hosts"));
  ForEach(hosts.size(), at_once, [&](size_t number) { asking.Reach(number); });
  const std::vector<size_t> numbers = asking.answering();
  const std::vector<Round> rounds = RoundsOf(numbers.size(), at_once);
  Cluster cluster;
  for (size_t i = 0; i < rounds.size(); ++i) {
    progress(absl::StrCat("round ", i + 1, " of ", rounds.size(), ": paths between ",
                          numbers.size(), " hosts, ", rounds[i].size(), " at once"));
    std::vector<PathResult> results(rounds[i].size());
    ForEach(results.size(), results.size(), [&](size_t path) {
      results[path] = asking.Measure({numbers[rounds[i][path].from], numbers[rounds[i][path].to]});
    });
    std::move(results.begin(), results.end(), std::back_inserter(cluster.paths));
  }
  cluster.nodes = asking.TakeNodes();
  cluster.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return cluster;
}

}  // namespace farcall::doctor
