// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_SCHEMA_H_
#define FARCALL_TOOLS_FARCALL_SCHEMA_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "rpc/runtime/channel.h"
#include "tools/farcall/text/arguments.h"

namespace farcall::cli {

// Services whose code is not linked into this program. What it hands out lives as long as it.
class Schema {
 public:
  virtual ~Schema() = default;
  // Full names.
  const std::vector<std::string>& services() const { return services_; }
  // By its full name, which is among services().
  virtual absl::StatusOr<const google::protobuf::ServiceDescriptor*> Find(
      const std::string& service) = 0;

  // By the name that a person typed, see method_name.h. Errors tell what there is.
  absl::StatusOr<const google::protobuf::ServiceDescriptor*> FindService(absl::string_view typed);
  absl::StatusOr<const google::protobuf::MethodDescriptor*> FindMethod(absl::string_view typed);

 protected:
  std::vector<std::string> services_;
};

// Asks the server by farcall.Reflection; `channel` outlives the schema. kUnavailable: it cannot
// be reached.
absl::StatusOr<std::unique_ptr<Schema>> AskServer(Channel& channel);

// Reads .proto files, as protoc does: `files` and what they import, looked for in `directories`.
absl::StatusOr<std::unique_ptr<Schema>> ImportFiles(const std::vector<std::string>& files,
                                                    const std::vector<std::string>& directories);

// --proto and -I, which choose between the two.
std::vector<Option> SchemaOptions();
absl::StatusOr<std::unique_ptr<Schema>> MakeSchema(const Arguments& arguments, Channel& channel);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_SCHEMA_H_
