// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "rpc/status/json_writer.h"
#include "rpc/version.h"
#include "tools/doctor/report_text.h"

namespace farcall::doctor {
namespace {

void Write(const Finding& finding, JsonWriter& json) {
  json.Field("check", finding.check);
  json.Field("subject", finding.subject);
  json.Field("verdict", Name(finding.verdict));
  json.Field("finding", finding.finding);
  json.Field("meaning", finding.meaning);
  json.Field("cure", finding.cure);
}

void Write(const GidRow& row, JsonWriter& json) {
  json.Field("device", row.device);
  json.Field("port", row.port);
  json.Field("index", row.index);
  json.Field("type", row.type);
  json.Field("address", row.address);
  json.Field("netdev", row.netdev);
  json.Field("used", row.used);
  json.Field("why", row.why);
}

void Write(const Comparison& peer, JsonWriter& json) {
  json.Field("host", peer.host);
  json.Field("summary", peer.peer_summary);
  json.Field("reason", peer.reason);
  json.Field("detail", peer.detail);
  json.Objects("rows", peer.rows, [&](const ComparisonRow& row) { WriteFields(row, json); });
}

}  // namespace

std::string ToJson(const Report& report, const std::string& inventory) {
  JsonWriter json;
  json.BeginObject();
  json.Field("version", Version());
  json.Field("status", StatusOf(report.code));
  json.Field("summary", report.summary);
  json.Field("reason", report.verdict.reason);
  json.Values("next", report.next);
  json.Objects("findings", report.findings, [&](const Finding& each) { Write(each, json); });
  json.Objects("gids", report.gids, [&](const GidRow& each) { Write(each, json); });
  if (report.peer.has_value()) json.Object("peer", [&] { Write(*report.peer, json); });
  json.EndObject();
  std::string text = json.Take();
  if (!inventory.empty()) {
    text.pop_back();
    absl::StrAppend(&text, ",\"inventory\":", inventory, "}");
  }
  return text + "\n";
}

}  // namespace farcall::doctor
