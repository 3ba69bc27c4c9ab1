// SPDX-License-Identifier: Apache-2.0
//
// One JSON object (RFC 8259), members in the order in which they were added.

#ifndef FARCALL_BENCHMARKS_COMMON_FIGURES_JSON_OBJECT_H_
#define FARCALL_BENCHMARKS_COMMON_FIGURES_JSON_OBJECT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace farcall::bench {

class JsonObject {
 public:
  // Keys are not checked for being unique. `value` is UTF-8.
  void AddText(absl::string_view key, absl::string_view value);
  void AddInteger(absl::string_view key, int64_t value);
  // Infinite and not a number, which JSON does not have, become null.
  void AddNumber(absl::string_view key, double value);
  void AddObject(absl::string_view key, const JsonObject& value);

  // On one line, without a newline at the end.
  std::string ToString() const;

 private:
  void AddKey(absl::string_view key);

  std::string members_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_FIGURES_JSON_OBJECT_H_
