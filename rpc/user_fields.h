// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_USER_FIELDS_H_
#define FARCALL_RPC_USER_FIELDS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace farcall {

// A few pairs of key and value that travel beside a message, in the order of setting. Any
// bytes; keys are distinct.
class UserFields {
 public:
  using Field = std::pair<std::string, std::string>;

  void Set(absl::string_view key, absl::string_view value) {
    for (Field& field : fields_) {
      if (field.first == key) {
        field.second = std::string(value);
        return;
      }
    }
    fields_.emplace_back(std::string(key), std::string(value));
  }
  // Null: there is none. Valid until the fields change.
  const std::string* Find(absl::string_view key) const {
    for (const Field& field : fields_) {
      if (field.first == key) return &field.second;
    }
    return nullptr;
  }
  bool empty() const { return fields_.empty(); }
  const std::vector<Field>& all() const { return fields_; }
  void Clear() { fields_.clear(); }

 private:
  std::vector<Field> fields_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_USER_FIELDS_H_
