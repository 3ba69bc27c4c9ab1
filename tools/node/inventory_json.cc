// SPDX-License-Identifier: Apache-2.0

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "rpc/http/json.h"
#include "tools/node/inventory.h"
#include "tools/node/json_objects.h"

namespace farcall::node {

absl::StatusOr<std::string> ToJsonLine(const Inventory& inventory) { return ToJson(inventory); }

absl::StatusOr<std::vector<Inventory>> FromJson(absl::string_view text) {
  const absl::StatusOr<std::vector<absl::string_view>> objects = SplitObjects(text);
  if (!objects.ok()) return objects.status();
  std::vector<Inventory> inventories;
  for (const absl::string_view object : *objects) {
    inventories.emplace_back();
    const absl::Status status = ParseJson(object, inventories.back());
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("object ", inventories.size(), " of the JSON: ", status.message(),
                     "; collect it with the same version of this program"));
  }
  return inventories;
}

}  // namespace farcall::node
