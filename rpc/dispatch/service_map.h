// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_SERVICE_MAP_H_
#define FARCALL_RPC_DISPATCH_SERVICE_MAP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/service.h"

namespace farcall {

// The services of a server, by name. Filled before the server starts, then only read,
// by any thread.
class ServiceMap {
 public:
  struct Found {
    google::protobuf::Service* service = nullptr;                // null: no such service
    const google::protobuf::MethodDescriptor* method = nullptr;  // null: no such method
  };

  // `service` outlives the map. Known by its full name ("pkg.EchoService") and, where no other
  // has it, by its short one, which some peers send. Fails on a full name that is taken.
  absl::Status Add(google::protobuf::Service& service);
  // The same, and the map owns it; also when this fails.
  absl::Status AddOwned(std::unique_ptr<google::protobuf::Service> service);
  // Destroys the services that it owns. Find is not called afterwards.
  void DestroyOwned() { owned_.clear(); }

  Found Find(absl::string_view service, absl::string_view method) const;

 private:
  struct Entry {
    google::protobuf::Service* service = nullptr;
    absl::flat_hash_map<std::string, const google::protobuf::MethodDescriptor*> methods;
  };

  std::vector<std::unique_ptr<google::protobuf::Service>> owned_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Entry>> by_name_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_SERVICE_MAP_H_
