// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_SERVICE_MAP_H_
#define FARCALL_RPC_DISPATCH_SERVICE_MAP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/service.h"
#include "rpc/dispatch/concurrency_limit.h"
#include "rpc/dispatch/message_pool.h"
#include "rpc/dispatch/method_pace.h"
#include "rpc/stats/method_stats.h"

namespace farcall {

class AttachmentPlacer;

// What a server keeps of each method. Any thread.
struct MethodState {
  AttachmentPlacer* placer = nullptr;  // of the service, which may have none
  MethodStats stats;
  ConcurrencyLimit limit;
  MethodPace pace;
  std::atomic<uint64_t> not_run{0};  // calls that ended, and whose handler was not called
  MessagePool messages;
};

// The services of a server, by name. Filled before the server starts, then only read,
// by any thread.
class ServiceMap {
 public:
  struct Found {
    google::protobuf::Service* service = nullptr;                // null: no such service
    const google::protobuf::MethodDescriptor* method = nullptr;  // null: no such method
    MethodState* state = nullptr;                                // of the method; the map's
  };

  // `service` outlives the map. Known by its full name ("pkg.EchoService") and, where no other
  // has it, by its short one, which some peers send. Fails on a full name that is taken.
  // `placer` (may be null) is asked for its attachments, as long as Find is called.
  absl::Status Add(google::protobuf::Service& service, AttachmentPlacer* placer = nullptr);
  // The same, and the map owns it; when this fails, it is destroyed.
  absl::Status AddOwned(std::unique_ptr<google::protobuf::Service> service,
                        AttachmentPlacer* placer = nullptr);
  // Takes back the last AddOwned, which succeeded. What is kept of its methods stays: who samples
  // may look at it.
  void RemoveLastOwned();
  // Destroys the services that it owns. Find is not called afterwards.
  void DestroyOwned() { owned_.clear(); }
  // No message of their types is kept from now on: who made the services may take the types away.
  void DropMessages();

  Found Find(absl::string_view service, absl::string_view method) const;
  // Whether any service has a placer.
  bool has_placer() const { return has_placer_; }
  // By "EchoService.Echo" or "pkg.EchoService.Echo".
  Found Find(absl::string_view full_method) const;
  // Of a method as Find knows it; of one that is not there: what it shall be when it is added.
  // Afterwards Unmet tells of it.
  void SetLimit(absl::string_view full_method, MaxConcurrency max);
  MaxConcurrency LimitOf(absl::string_view full_method) const;
  // A method that has a limit and was not added; "": none.
  std::string Unmet() const { return unmet_.empty() ? "" : unmet_.begin()->first; }

  // All methods, in the order of adding and of their files; valid while the map is not added to.
  const std::vector<Found>& all() const { return all_; }

 private:
  struct Entry {
    google::protobuf::Service* service = nullptr;
    absl::flat_hash_map<std::string, Found> methods;
  };

  std::vector<std::unique_ptr<google::protobuf::Service>> owned_;
  std::vector<std::unique_ptr<MethodState>> states_;
  std::vector<Found> all_;
  bool has_placer_ = false;
  absl::btree_map<std::string, MaxConcurrency> unmet_;  // limits of methods that are not there
  absl::flat_hash_map<std::string, std::shared_ptr<const Entry>> by_name_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_SERVICE_MAP_H_
