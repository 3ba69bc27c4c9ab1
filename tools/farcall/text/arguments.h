// SPDX-License-Identifier: Apache-2.0
//
// The command line of one subcommand: options anywhere between the words.

#ifndef FARCALL_TOOLS_FARCALL_TEXT_ARGUMENTS_H_
#define FARCALL_TOOLS_FARCALL_TEXT_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall::cli {

struct Option {
  const char* name;   // with its dashes: "--timeout"; "-" and "_" within mean the same
  const char* value;  // what its value is, for the help: "TIME"; "": it has none
  const char* help;   // may have several lines
};

class Arguments {
 public:
  // "--timeout 2s", "--timeout=2s", "-I dir", "-Idir"; "--": no options follow. Errors name the
  // option.
  static absl::StatusOr<Arguments> Parse(const std::vector<Option>& known,
                                         const std::vector<std::string>& arguments);

  const std::vector<std::string>& words() const { return words_; }
  bool Has(absl::string_view option) const { return !All(option).empty(); }
  // In the order in which they were given; "" for an option without a value.
  const std::vector<std::string>& All(absl::string_view option) const;
  // The last one given.
  std::string Text(absl::string_view option, absl::string_view otherwise) const;
  // Errors name the option and its bounds.
  absl::StatusOr<int64_t> Integer(absl::string_view option, int64_t otherwise, int64_t lowest,
                                  int64_t highest) const;
  absl::StatusOr<double> Number(absl::string_view option, double otherwise, double lowest,
                                double highest) const;
  // With its unit: "500ms", "2s", "1m".
  absl::StatusOr<Duration> Time(absl::string_view option, Duration otherwise, Duration lowest,
                                Duration highest) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::vector<std::string>> values_;
};

// One line for each option, or more where its help has more.
std::string HelpOf(const std::vector<Option>& options);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_TEXT_ARGUMENTS_H_
