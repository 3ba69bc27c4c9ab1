// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/status_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/common/number_text.h"
#include "google/protobuf/struct.pb.h"
#include "tools/farcall/json_message.h"
#include "tools/farcall/text_table.h"

namespace farcall::cli {
namespace {

using bench::NumberText;
using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

const Value& At(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? Value::default_instance() : found->second;
}
const Struct& Object(const Struct& object, const std::string& name) {
  return At(object, name).struct_value();
}
const ListValue& List(const Struct& object, const std::string& name) {
  return At(object, name).list_value();
}
double Number(const Struct& object, const std::string& name) {
  return At(object, name).number_value();
}
std::string Text(const Struct& object, const std::string& name) {
  return At(object, name).string_value();
}
std::string Count(const Struct& object, const std::string& name) {
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

// "12 ELIMIT, 3 EINTERNAL": what is not zero of an object of numbers.
std::string Tally(const Struct& counts) {
  std::string text;
  std::vector<std::string> names;
  for (const auto& [name, value] : counts.fields()) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (Number(counts, name) == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", Count(counts, name), " ", name);
  }
  return text;
}

std::string Head(const Struct& status) {
  std::string text = absl::StrCat(Text(status, "listen"), ", farcall ", Text(status, "version"),
                                  ", up ", TimeText(Number(status, "uptime_s")), ", ");
  const double threads = Number(status, "handler_threads");
  absl::StrAppend(&text,
                  threads == 0 ? "handlers inline" : absl::StrCat(threads, " handler threads"));
  if (At(status, "stopping").bool_value()) absl::StrAppend(&text, ", STOPPING");
  return absl::StrCat(text, "\n");
}

std::vector<std::string> CallsRow(const std::string& name, const Struct& calls) {
  const Struct& latency = Object(calls, "latency");
  std::string limit = "none";
  if (Number(calls, "limit") > 0) limit = Count(calls, "limit");
  if (At(calls, "limit_auto").bool_value()) limit += " auto";
  std::vector<std::string> row = {name,
                                  NumberText(Number(calls, "qps")),
                                  NumberText(Number(calls, "errors_per_s")),
                                  Count(calls, "calls"),
                                  Count(calls, "in_flight"),
                                  limit};
  for (const char* quantile : {"mean_us", "p50_us", "p99_us", "p999_us"}) {
    row.push_back(NumberText(Number(latency, quantile)));
  }
  row.push_back(Tally(Object(calls, "codes")));
  return row;
}

std::string Methods(const Struct& status) {
  TextTable table({0, 10});
  table.Add({"method", "calls/s", "errors/s", "calls", "now", "limit", "mean us", "p50 us",
             "p99 us", "p99.9 us", "errors"});
  for (const Value& value : List(status, "methods").values()) {
    const Struct& method = value.struct_value();
    table.Add(CallsRow(absl::StrCat(Text(method, "service"), ".", Text(method, "method")), method));
  }
  table.Add(CallsRow("all", Object(status, "all")));
  return absl::StrCat("\n", table.ToString());
}

std::string Connections(const Struct& status) {
  const Struct& connections = Object(status, "connections");
  std::string text =
      absl::StrCat("\n", Count(connections, "open"), " connections: ", Count(connections, "tcp"),
                   " tcp, ", Count(connections, "rdma"), " rdma\n");
  TextTable table({0, 1, 2, 8});
  table.Add({"peer", "by", "protocol", "age", "requests", "now", "in", "out", "not rdma because"});
  for (const Value& value : List(connections, "list").values()) {
    const Struct& one = value.struct_value();
    const std::string why = Text(one, "why_not_rdma");
    table.Add({Text(one, "peer").empty() ? "(unix)" : Text(one, "peer"), Text(one, "transport"),
               Text(one, "protocol"), TimeText(Number(one, "age_s")), Count(one, "requests"),
               Count(one, "in_flight"), BytesText(Number(one, "bytes_in")),
               BytesText(Number(one, "bytes_out")), why == "in_use" ? "" : Text(one, "why_text")});
  }
  return table.empty() ? text : absl::StrCat(text, table.ToString());
}

std::string Machine(const Struct& status) {
  const Struct& pool = Object(status, "pool");
  const Struct& process = Object(status, "process");
  std::string text = absl::StrCat(
      "\npool     ", BytesText(Number(pool, "used_bytes")), " used of ",
      BytesText(Number(pool, "mapped_bytes")), ", at most ", BytesText(Number(pool, "max_bytes")),
      "\nprocess  ", BytesText(Number(process, "resident_bytes")), " resident, ",
      Count(process, "threads"), " threads, ", Count(process, "open_fds"), " of ",
      Count(process, "max_fds"), " descriptors, ", NumberText(Number(process, "cpu_s")),
      " s of CPU\nloops    ");
  for (const Value& value : List(status, "loops").values()) {
    const Struct& loop = value.struct_value();
    absl::StrAppend(&text, At(loop, "answered").bool_value()
                               ? absl::StrCat(Count(loop, "connections"), " connections in ",
                                              NumberText(Number(loop, "answer_us")), " us; ")
                               : "no answer; ");
  }
  const std::string counters = Tally(Object(status, "counters"));
  absl::StrAppend(&text, "\ncounters ", counters.empty() ? "all zero" : counters, "\n");
  const std::string fallbacks = Tally(Object(Object(status, "rdma"), "fallbacks"));
  absl::StrAppend(&text, "rdma     ", Count(Object(status, "rdma"), "upgrades"), " upgrades");
  return absl::StrCat(text, fallbacks.empty() ? "" : "; not: ", fallbacks, "\n");
}

}  // namespace

absl::StatusOr<std::string> StatusText(const std::string& json) {
  Struct status;
  if (absl::Status read = ReadJson(json, status); !read.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server's /status is not what was expected: ", read.message()));
  }
  return absl::StrCat(Head(status), Methods(status), Connections(status), Machine(status));
}

}  // namespace farcall::cli
