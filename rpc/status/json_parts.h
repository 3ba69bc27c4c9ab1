// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_JSON_PARTS_H_
#define FARCALL_RPC_STATUS_JSON_PARTS_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "rpc/status/json_writer.h"

namespace farcall {

template <typename WriteFields>
void WriteObject(absl::string_view key, JsonWriter& json, WriteFields write_fields) {
  json.Key(key);
  json.BeginObject();
  write_fields();
  json.EndObject();
}

// An array of objects.
template <typename Items, typename WriteFields>
void WriteObjects(absl::string_view key, const Items& items, JsonWriter& json,
                  WriteFields write_fields) {
  json.Key(key);
  json.BeginArray();
  for (const auto& item : items) {
    json.BeginObject();
    write_fields(item);
    json.EndObject();
  }
  json.EndArray();
}

// Counters that are all zero but for a few.
template <typename Counts, typename NameOf>
void WriteNonZero(absl::string_view key, const Counts& counts, JsonWriter& json, NameOf name_of) {
  WriteObject(key, json, [&] {
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0) json.Field(name_of(i), counts[i]);
    }
  });
}

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_JSON_PARTS_H_
