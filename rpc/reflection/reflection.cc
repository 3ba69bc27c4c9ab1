// SPDX-License-Identifier: Apache-2.0

#include "rpc/reflection/reflection.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/closure.h"
#include "rpc/controller.h"
#include "rpc/reflection/reflection.pb.h"

namespace farcall {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::ServiceDescriptor;

// `file` behind what it imports, each file once. protoc refuses circles, so the depth is that
// of the imports.
void CollectFiles(const FileDescriptor& file, std::unordered_set<const FileDescriptor*>& seen,
                  std::vector<const FileDescriptor*>& files) {
  if (!seen.insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    CollectFiles(*file.dependency(i), seen, files);
  }
  files.push_back(&file);
}

class ReflectionImpl final : public Reflection {
 public:
  ReflectionImpl(std::vector<const ServiceDescriptor*> services, size_t max_bytes)
      : services_(std::move(services)), max_bytes_(max_bytes) {
    services_.push_back(descriptor());
    const auto less = [](const auto* a, const auto* b) { return a->full_name() < b->full_name(); };
    std::sort(services_.begin(), services_.end(), less);
    services_.erase(std::unique(services_.begin(), services_.end()), services_.end());
  }

  void ListServices(google::protobuf::RpcController*, const ListServicesRequest*,
                    ListServicesResponse* response, google::protobuf::Closure* done) override {
    const ClosureGuard answer(done);
    for (const ServiceDescriptor* service : services_) response->add_service(service->full_name());
  }

  void GetFiles(google::protobuf::RpcController* rpc_controller, const GetFilesRequest* request,
                GetFilesResponse* response, google::protobuf::Closure* done) override {
    const ClosureGuard answer(done);
    auto& controller = static_cast<Controller&>(*rpc_controller);
    const auto found =
        std::find_if(services_.begin(), services_.end(), [&](const ServiceDescriptor* service) {
          return service->full_name() == request->service();
        });
    if (found == services_.end()) {
      // Not echoed: its length is the client's choice.
      return controller.SetFailed(
          kNoService, "no service of that full name; ListServices tells those that there are");
    }
    std::unordered_set<const FileDescriptor*> seen;
    std::vector<const FileDescriptor*> files;
    CollectFiles(*(*found)->file(), seen, files);
    size_t bytes = 0;
    for (const FileDescriptor* file : files) {
      google::protobuf::FileDescriptorProto& copy = *response->mutable_files()->add_file();
      file->CopyTo(&copy);
      bytes += copy.ByteSizeLong();
      if (bytes > max_bytes_) {
        return controller.SetFailed(
            E2BIG, absl::StrCat("the files of ", (*found)->full_name(), " are larger than ",
                                max_bytes_, " bytes; give the tool the .proto files instead"));
      }
    }
  }

 private:
  std::vector<const ServiceDescriptor*> services_;
  const size_t max_bytes_;
};

}  // namespace

std::unique_ptr<google::protobuf::Service> MakeReflection(
    std::vector<const ServiceDescriptor*> services, size_t max_bytes) {
  return std::make_unique<ReflectionImpl>(std::move(services), max_bytes);
}

}  // namespace farcall
