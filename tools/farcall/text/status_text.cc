// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/status_text.h"

#include <algorithm>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/common/figures/number_text.h"
#include "tools/farcall/text/text_table.h"

namespace farcall::cli {
namespace {

using bench::NumberText;
using Json = boost::property_tree::ptree;  // keeps what is no object or array as text

// Arrays and objects in one another; the parser calls itself for each.
constexpr int kDeepest = 32;

const Json& At(const Json& object, const std::string& name) {
  static const Json none;
  const auto found = object.find(name);
  return found == object.not_found() ? none : found->second;
}
std::string Text(const Json& object, const std::string& name) { return At(object, name).data(); }
double Number(const Json& object, const std::string& name) {
  double number = 0;
  const bool is_number = absl::SimpleAtod(Text(object, name), &number) && !std::isnan(number);
  // So that it can be cast to an integer.
  return is_number ? std::clamp(number, -1e18, 1e18) : 0;
}
bool Flag(const Json& object, const std::string& name) { return Text(object, name) == "true"; }
std::string Count(const Json& object, const std::string& name) {
  const double number = Number(object, name);
  return number <= 0 ? "0" : bench::CountText(static_cast<uint64_t>(number));
}

std::string BytesText(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return unit == 0 ? absl::StrFormat("%.0f B", bytes)
                   : absl::StrCat(NumberText(bytes), " ", kUnits[unit]);
}

// "3 d 4 h", "4 h 5 min", "5 min 6 s", "6 s".
std::string TimeText(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  const int64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days > 0) return absl::StrCat(days, " d ", hours, " h");
  if (hours > 0) return absl::StrCat(hours, " h ", minutes, " min");
  if (minutes > 0) return absl::StrCat(minutes, " min ", whole % 60, " s");
  return absl::StrCat(whole, " s");
}

// "12 ELIMIT, 3 EINTERNAL": what is not zero, and no success, of an object of numbers.
std::string Tally(const Json& counts) {
  std::string text;
  std::vector<std::string> names;
  for (const auto& [name, value] : counts) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (Number(counts, name) == 0 || name == "OK") continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", Count(counts, name), " ", name);
  }
  return text;
}

std::string Head(const Json& status) {
  std::string text = absl::StrCat(Text(status, "listen"), ", farcall ", Text(status, "version"),
                                  ", up ", TimeText(Number(status, "uptime_s")), ", ");
  const double threads = Number(status, "handler_threads");
  absl::StrAppend(&text,
                  threads == 0 ? "handlers inline" : absl::StrCat(threads, " handler threads"));
  if (Flag(status, "stopping")) absl::StrAppend(&text, ", STOPPING");
  return absl::StrCat(text, "\n");
}

std::vector<std::string> CallsRow(const std::string& name, const Json& calls) {
  const Json& latency = At(calls, "latency");
  std::string limit = "none";
  if (Number(calls, "limit") > 0) limit = Count(calls, "limit");
  if (Flag(calls, "limit_auto")) limit += " auto";
  std::vector<std::string> row = {name,
                                  NumberText(Number(calls, "qps")),
                                  NumberText(Number(calls, "errors_per_s")),
                                  Count(calls, "calls"),
                                  Count(calls, "in_flight"),
                                  limit};
  for (const char* quantile : {"mean_us", "p50_us", "p99_us", "p999_us"}) {
    row.push_back(NumberText(Number(latency, quantile)));
  }
  row.push_back(Tally(At(calls, "codes")));
  return row;
}

std::string Methods(const Json& status) {
  TextTable table({0, 10});
  table.Add({"method", "calls/s", "errors/s", "calls", "now", "limit", "mean us", "p50 us",
             "p99 us", "p99.9 us", "errors"});
  for (const auto& [unnamed, method] : At(status, "methods")) {
    table.Add(CallsRow(absl::StrCat(Text(method, "service"), ".", Text(method, "method")), method));
  }
  table.Add(CallsRow("all", At(status, "all")));
  return absl::StrCat("\n", table.ToString());
}

std::string Connections(const Json& status) {
  const Json& connections = At(status, "connections");
  std::string text =
      absl::StrCat("\n", Count(connections, "open"), " connections: ", Count(connections, "tcp"),
                   " tcp, ", Count(connections, "rdma"), " rdma\n");
  TextTable table({0, 1, 2, 8});
  table.Add({"peer", "by", "protocol", "age", "requests", "now", "in", "out", "not rdma because"});
  for (const auto& [unnamed, one] : At(connections, "list")) {
    const std::string why = Text(one, "why_not_rdma");
    table.Add({Text(one, "peer").empty() ? "(unix)" : Text(one, "peer"), Text(one, "transport"),
               Text(one, "protocol"), TimeText(Number(one, "age_s")), Count(one, "requests"),
               Count(one, "in_flight"), BytesText(Number(one, "bytes_in")),
               BytesText(Number(one, "bytes_out")), why == "in_use" ? "" : Text(one, "why_text")});
  }
  return table.empty() ? text : absl::StrCat(text, table.ToString());
}

std::string Machine(const Json& status) {
  const Json& pool = At(status, "pool");
  const Json& process = At(status, "process");
  std::string text = absl::StrCat(
      "\npool     ", BytesText(Number(pool, "used_bytes")), " used of ",
      BytesText(Number(pool, "mapped_bytes")), ", at most ", BytesText(Number(pool, "max_bytes")),
      "\nprocess  ", BytesText(Number(process, "resident_bytes")), " resident, ",
      Count(process, "threads"), " threads, ", Count(process, "open_fds"), " of ",
      Count(process, "max_fds"), " descriptors, ", NumberText(Number(process, "cpu_s")),
      " s of CPU\nloops    ");
  for (const auto& [unnamed, loop] : At(status, "loops")) {
    absl::StrAppend(&text, Flag(loop, "answered")
                               ? absl::StrCat(Count(loop, "connections"), " connections in ",
                                              NumberText(Number(loop, "answer_us")), " us; ")
                               : "no answer; ");
  }
  const std::string counters = Tally(At(status, "counters"));
  absl::StrAppend(&text, "\ncounters ", counters.empty() ? "all zero" : counters, "\n");
  const std::string fallbacks = Tally(At(At(status, "rdma"), "fallbacks"));
  absl::StrAppend(&text, "rdma     ", Count(At(status, "rdma"), "upgrades"), " upgrades");
  return absl::StrCat(text, fallbacks.empty() ? "" : "; not: ", fallbacks, "\n");
}

bool TooDeep(const std::string& json) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '{' || c == '[')) {
      if (++depth > kDeepest) return true;
    } else if (!in_text && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> StatusText(const std::string& json) {
  Json status;
  std::istringstream in(json);
  try {
    if (TooDeep(json)) return absl::FailedPreconditionError("the server's /status nests too deep");
    boost::property_tree::read_json(in, status);
  } catch (const boost::property_tree::json_parser_error& error) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server's /status is no JSON: ", error.what()));
  }
  return absl::StrCat(Head(status), Methods(status), Connections(status), Machine(status));
}

}  // namespace farcall::cli
