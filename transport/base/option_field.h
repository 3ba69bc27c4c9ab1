// SPDX-License-Identifier: Apache-2.0
//
// OptionField: one field of a struct of options, described once. What checks options, reads them
// from text, shows and documents them goes over these descriptions.

#ifndef FARCALL_TRANSPORT_BASE_OPTION_FIELD_H_
#define FARCALL_TRANSPORT_BASE_OPTION_FIELD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall {

struct OptionField {
  // A value that is read and written in a way of its own, such as an enumeration.
  struct OwnForm {
    std::function<std::string()> get;
    std::function<bool(absl::string_view)> set;  // false: it does not take this, and is unchanged
    std::string expected;                        // "event, adaptive or busy"
  };
  using Target = std::variant<bool*, int*, uint8_t*, uint16_t*, uint32_t*, size_t*, Duration*,
                              std::string*, std::vector<std::string>*, std::vector<int>*, OwnForm>;
  // Inclusive. Of numbers, also in lists; of a Duration in nanoseconds. Other types have none.
  struct Range {
    Range() = default;
    Range(int64_t low, int64_t high) : least(low), most(high) {}
    Range(Duration low, Duration high);
    int64_t least = 0;
    int64_t most = 0;
  };
  // A number, inside or outside of the range, or an empty list or text, that has a name.
  struct Special {
    int64_t value = 0;
    absl::string_view name;
  };

  std::string name;  // as people write it: "rdma.ack_timeout"
  Target target;     // lives as long as the options that it was made from
  Range range{};
  std::optional<Special> special{};
  std::optional<Special> special_too{};  // of a number
  // Bytes are shown and read with KiB, MiB or GiB, too.
  bool bytes = false;
  absl::string_view meaning{};  // for people: half a sentence
};

// The value as SetText takes it.
std::string Text(const OptionField& field);
// What a value may be: "8 to 22", "4 KiB to 64 KiB, or never (0)", "yes or no".
std::string Expected(const OptionField& field);
// kInvalidArgument with name, value and what is expected; then the field is unchanged. Lists are
// separated by commas; times need a unit.
absl::Status SetText(const OptionField& field, absl::string_view text);
// Whether the values are in their bounds: of the first that is not, the same error.
absl::Status CheckFields(const std::vector<OptionField>& fields);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_OPTION_FIELD_H_
