// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rpc/settings/config_file.h"
#include "rpc/settings/variables.h"
#include "transport/base/errno_status.h"
#include "transport/base/option_field.h"

namespace farcall {
namespace {

// Letters to insert, remove or change to make one of the other (Levenshtein).
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

absl::Status Unknown(const Setting& setting, const std::vector<OptionField>& fields) {
  const bool variable = setting.name == setting.from;
  // Of a long text the end says nothing, and the distance takes its square.
  const absl::string_view name = absl::string_view(setting.name).substr(0, 100);
  const auto written = [variable](const OptionField& field) {
    return variable ? VariableOf(field.name) : field.name;
  };
  const auto nearest = std::min_element(
      fields.begin(), fields.end(), [&](const OptionField& a, const OptionField& b) {
        return Distance(name, written(a)) < Distance(name, written(b));
      });
  std::string advice = "docs/settings.md has all names";
  if (Distance(name, written(*nearest)) <= 3) {
    advice = absl::StrCat("do you mean ", written(*nearest), "? ", advice);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      setting.from, ": ", variable ? "" : absl::StrCat(absl::CHexEscape(name), " "),
      variable ? "farcall has no such setting; " : "is no setting of farcall; ", advice));
}

// Where those of the values are from that `error` names, if not from the program.
std::string Sources(absl::string_view error, const std::vector<OptionStatus>& all) {
  std::vector<std::string> sources;
  for (const OptionStatus& one : all) {
    if (one.from == "default" || one.from == "program") continue;
    if (absl::StrContains(error, one.name)) {
      sources.push_back(absl::StrCat(one.name, " is by ", one.from));
    }
  }
  return sources.empty() ? "" : absl::StrCat(" (", absl::StrJoin(sources, ", "), ")");
}

std::vector<absl::string_view> Variables() {
  std::vector<absl::string_view> variables;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) variables.push_back(*one);
  return variables;
}

// Of the process, and never destroyed, since a Runtime may be made after static objects ended.
std::vector<Setting>& KeptFlags() {
  static auto* const kept = new std::vector<Setting>;
  return *kept;
}

}  // namespace

absl::StatusOr<std::vector<OptionStatus>> Apply(const std::vector<Setting>& settings,
                                                RuntimeOptions* options) {
  if (absl::Status status = options->Validate(); !status.ok()) return status;
  RuntimeOptions defaults;
  const std::vector<OptionField> fields = Fields(*options);
  const std::vector<OptionField> default_fields = Fields(defaults);
  std::vector<OptionStatus> all;
  std::vector<bool> set_by_program;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string value = Text(fields[i]);
    set_by_program.push_back(value != Text(default_fields[i]));
    all.push_back({fields[i].name, value, set_by_program[i] ? "program" : "default"});
  }
  const bool fill_in = options->operator_settings == OperatorSettings::kFillIn;
  for (const Setting& setting : settings) {
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const OptionField& one) {
      return one.name == setting.name;
    });
    if (field == fields.end()) return Unknown(setting, fields);
    const auto i = static_cast<size_t>(field - fields.begin());
    // What is not used is checked, too.
    const bool loses = fill_in && set_by_program[i] && !setting.wins;
    const OptionField& checked = loses ? default_fields[i] : *field;
    if (absl::Status status = SetText(checked, setting.value); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(setting.from, ": ", status.message()));
    }
    if (!loses) {
      all[i].value = Text(*field);
      all[i].from = setting.from;
    } else {
      all[i].from = absl::StrCat("program (not ", setting.from, ")");
    }
  }
  if (absl::Status status = options->Validate(); !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(status.message(), Sources(status.message(), all)));
  }
  return all;
}

absl::StatusOr<std::vector<OptionStatus>> ApplyOperatorSettings(RuntimeOptions* options) {
  if (options->operator_settings == OperatorSettings::kIgnore) return Apply(KeptFlags(), options);
  std::vector<Setting> settings;
  const char* const path = std::getenv(kConfigVariable);
  if (path != nullptr && *path != '\0') {
    auto of_file = ReadConfig(path);
    if (!of_file.ok()) return Annotate(of_file.status(), kConfigVariable);
    settings = *std::move(of_file);
  }
  for (Setting& setting : SettingsOf(Variables(), Fields(*options))) {
    settings.push_back(std::move(setting));
  }
  settings.insert(settings.end(), KeptFlags().begin(), KeptFlags().end());
  return Apply(settings, options);
}

void KeepFlags(std::vector<Setting> flags) { KeptFlags() = std::move(flags); }

}  // namespace farcall
