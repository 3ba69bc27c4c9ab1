// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_NODE_JSON_OBJECTS_H_
#define FARCALL_TOOLS_NODE_JSON_OBJECTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace farcall::node {

inline constexpr size_t kMaxJsonObjects = 20000;

// The texts of the objects of a JSON array, of one object per line, or of a single one, as files
// and logs hold them. What is inside an object is not looked at but for its braces and strings.
// Errors name the line: what stands between objects, an object that does not end, too many.
absl::StatusOr<std::vector<absl::string_view>> SplitObjects(absl::string_view text);

}  // namespace farcall::node

#endif  // FARCALL_TOOLS_NODE_JSON_OBJECTS_H_
