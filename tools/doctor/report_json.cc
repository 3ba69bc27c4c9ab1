// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "rpc/status/json_writer.h"
#include "rpc/version.h"
#include "tools/doctor/report_text.h"

namespace farcall::doctor {
namespace {

void Write(const Finding& finding, JsonWriter& json) {
  json.BeginObject();
  json.Field("check", finding.check);
  json.Field("subject", finding.subject);
  json.Field("verdict", Name(finding.verdict));
  json.Field("finding", finding.finding);
  json.Field("meaning", finding.meaning);
  json.Field("cure", finding.cure);
  json.EndObject();
}

void Write(const GidRow& row, JsonWriter& json) {
  json.BeginObject();
  json.Field("device", row.device);
  json.Field("port", row.port);
  json.Field("index", row.index);
  json.Field("type", row.type);
  json.Field("address", row.address);
  json.Field("netdev", row.netdev);
  json.Field("used", row.used);
  json.Field("why", row.why);
  json.EndObject();
}

void Write(const Comparison& peer, JsonWriter& json) {
  json.BeginObject();
  json.Field("host", peer.host);
  json.Field("summary", peer.peer_summary);
  json.Field("reason", peer.reason);
  json.Field("detail", peer.detail);
  json.Key("rows");
  json.BeginArray();
  for (const ComparisonRow& row : peer.rows) {
    json.BeginObject();
    WriteFields(row, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

template <typename List>
void WriteAll(absl::string_view key, const List& list, JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const auto& each : list) Write(each, json);
  json.EndArray();
}

}  // namespace

absl::string_view StatusOf(ExitCode code) {
  if (code == kReady) return "ready";
  return code == kDegraded ? "degraded" : "no_rdma";
}

std::string ToJson(const Report& report, const std::string& inventory) {
  JsonWriter json;
  json.BeginObject();
  json.Field("version", Version());
  json.Field("status", StatusOf(report.code));
  json.Field("summary", report.summary);
  json.Field("reason", report.verdict.reason);
  json.Key("next");
  json.BeginArray();
  for (const std::string& each : report.next) json.Value(each);
  json.EndArray();
  WriteAll("findings", report.findings, json);
  WriteAll("gids", report.gids, json);
  if (report.peer.has_value()) {
    json.Key("peer");
    Write(*report.peer, json);
  }
  json.EndObject();
  std::string text = json.Take();
  if (!inventory.empty()) {
    text.pop_back();
    absl::StrAppend(&text, ",\"inventory\":", inventory, "}");
  }
  return text + "\n";
}

}  // namespace farcall::doctor
