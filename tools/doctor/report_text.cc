// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/report_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/farcall/text/text_table.h"

namespace farcall::doctor {
namespace {

constexpr size_t kWidth = 110;

// Broken at spaces, each further line indented by `indent`.
std::string Folded(const std::string& text, size_t indent) {
  std::string folded;
  size_t column = indent;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      absl::StrAppend(&folded, "\n", std::string(indent, ' '));
      column = indent;
    }
    if (column > indent) {
      folded += ' ';
      ++column;
    }
    absl::StrAppend(&folded, word);
    column += word.size();
  }
  return folded;
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

struct Widths {
  size_t check = 0;
  size_t subject = 0;
};

void Add(const Finding& finding, const Widths& widths, bool all, std::string& text) {
  constexpr size_t kVerdict = 8;  // "degraded"
  const size_t indent = kVerdict + 2 + widths.check + 2 + widths.subject + 2;
  absl::StrAppend(&text, Padded(std::string(Name(finding.verdict)), kVerdict), "  ",
                  Padded(finding.check, widths.check), "  ",
                  Padded(finding.subject, widths.subject), "  ", Folded(finding.finding, indent),
                  "\n");
  const bool trouble = finding.verdict == Verdict::kFailed || finding.verdict == Verdict::kDegraded;
  if (!trouble && !all) return;
  const std::string space(indent, ' ');
  if (!finding.meaning.empty()) {
    absl::StrAppend(&text, space, "means: ", Folded(finding.meaning, indent + 7), "\n");
  }
  if (!finding.cure.empty()) {
    absl::StrAppend(&text, space, "cure:  ", Folded(finding.cure, indent + 7), "\n");
  }
}

std::string GidTable(const std::vector<GidRow>& gids) {
  cli::TextTable table({0, 3, 4, 5, 6});
  table.Add({"device", "port", "gid", "type", "address", "netdev", "used"});
  for (const GidRow& row : gids) {
    table.Add({row.device, absl::StrCat(row.port), absl::StrCat(row.index), row.type, row.address,
               row.netdev, absl::StrCat(row.used ? "yes: " : "no: ", row.why)});
  }
  return table.ToString();
}

}  // namespace

std::string ToText(const Report& report, bool all) {
  std::string text = Folded(report.summary, 0) + "\n\n";
  Widths widths;
  for (const Finding& finding : report.findings) {
    widths.check = std::max(widths.check, finding.check.size());
    widths.subject = std::max(widths.subject, finding.subject.size());
  }
  for (const Finding& finding : report.findings) Add(finding, widths, all, text);
  if (!report.gids.empty()) absl::StrAppend(&text, "\n", GidTable(report.gids));
  if (report.peer.has_value()) {
    absl::StrAppend(&text, "\npeer ", report.peer->host, " (", report.peer->peer_summary, ")\n",
                    ToText(*report.peer));
  }
  if (!report.next.empty()) {
    absl::StrAppend(&text, "\nwhat to do next:\n");
    for (size_t i = 0; i < report.next.size(); ++i) {
      absl::StrAppend(&text, "  ", i + 1, ". ", Folded(report.next[i], 5), "\n");
    }
  }
  return text;
}

}  // namespace farcall::doctor
