// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/arguments.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"

namespace farcall::cli {
namespace {

std::string Spelled(absl::string_view name) {
  std::string spelled(name);
  if (absl::StartsWith(spelled, "--")) {
    std::replace(spelled.begin() + 2, spelled.end(), '-', '_');
  }
  return spelled;
}

const Option* Find(const std::vector<Option>& known, const std::string& name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Option& option) {
    return Spelled(option.name) == name;
  });
  return found == known.end() ? nullptr : &*found;
}

// An argument that begins with a dash, as the name and perhaps the value in it.
struct Split {
  std::string name;
  std::string value;
  bool has_value = false;
};

Split SplitOption(const std::string& argument) {
  if (absl::StartsWith(argument, "--")) {
    const size_t equals = argument.find('=');
    if (equals == std::string::npos) return {Spelled(argument), "", false};
    return {Spelled(argument.substr(0, equals)), argument.substr(equals + 1), true};
  }
  if (argument.size() > 2) return {argument.substr(0, 2), argument.substr(2), true};
  return {argument, "", false};
}

absl::Status Bad(absl::string_view option, absl::string_view text, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat(option, " is ", wanted, ", not \"", text, "\""));
}

std::string TimeText(Duration time) { return absl::FormatDuration(absl::FromChrono(time)); }

}  // namespace

absl::StatusOr<Arguments> Arguments::Parse(const std::vector<Option>& known,
                                           const std::vector<std::string>& arguments) {
  Arguments parsed;
  bool options_end = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    // "-" alone is standard input.
    if (options_end || argument.size() < 2 || argument[0] != '-') {
      parsed.words_.push_back(argument);
      continue;
    }
    if (argument == "--") {
      options_end = true;
      continue;
    }
    Split split = SplitOption(argument);
    const Option* const option = Find(known, split.name);
    if (option == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("there is no option ", split.name));
    }
    const bool wants_value = option->value[0] != '\0';
    if (!wants_value && split.has_value) {
      return absl::InvalidArgumentError(absl::StrCat(option->name, " takes no value"));
    }
    if (wants_value && !split.has_value) {
      if (++i == arguments.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat(option->name, " needs a value: ", option->name, " ", option->value));
      }
      split.value = arguments[i];
    }
    parsed.values_[split.name].push_back(split.value);
  }
  return parsed;
}

const std::vector<std::string>& Arguments::All(absl::string_view option) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(Spelled(option));
  return found == values_.end() ? none : found->second;
}

std::string Arguments::Text(absl::string_view option, absl::string_view otherwise) const {
  return Has(option) ? All(option).back() : std::string(otherwise);
}

absl::StatusOr<int64_t> Arguments::Integer(absl::string_view option, int64_t otherwise,
                                           int64_t lowest, int64_t highest) const {
  if (!Has(option)) return otherwise;
  const std::string& text = All(option).back();
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= lowest && value <= highest) return value;
  return Bad(option, text, absl::StrCat("a number from ", lowest, " to ", highest));
}

absl::StatusOr<double> Arguments::Number(absl::string_view option, double otherwise, double lowest,
                                         double highest) const {
  if (!Has(option)) return otherwise;
  const std::string& text = All(option).back();
  double value = 0;
  if (absl::SimpleAtod(text, &value) && value >= lowest && value <= highest) return value;
  return Bad(option, text, absl::StrCat("a number from ", lowest, " to ", highest));
}

absl::StatusOr<Duration> Arguments::Time(absl::string_view option, Duration otherwise,
                                         Duration lowest, Duration highest) const {
  if (!Has(option)) return otherwise;
  const std::string& text = All(option).back();
  absl::Duration value;
  if (absl::ParseDuration(text, &value) && value >= absl::FromChrono(lowest) &&
      value <= absl::FromChrono(highest)) {
    return absl::ToChronoNanoseconds(value);
  }
  return Bad(option, text,
             absl::StrCat("a time with its unit (500ms, 2s, 1m), from ", TimeText(lowest), " to ",
                          TimeText(highest)));
}

std::string HelpOf(const std::vector<Option>& options) {
  std::string help;
  for (const Option& option : options) {
    const bool has_value = option.value[0] != '\0';
    std::string left = absl::StrCat("  ", option.name, has_value ? " " : "", option.value);
    constexpr size_t kColumn = 26;
    left.resize(std::max(left.size() + 1, kColumn), ' ');
    const std::string next_line = absl::StrCat("\n", std::string(kColumn, ' '));
    absl::StrAppend(&help, left, absl::StrReplaceAll(option.help, {{"\n", next_line}}), "\n");
  }
  return help;
}

}  // namespace farcall::cli
