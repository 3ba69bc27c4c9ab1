// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/reflection/reflection.pb.h"
#include "tools/farcall/schema.h"

namespace farcall::cli {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptorProto;
using google::protobuf::ServiceDescriptor;

constexpr char kOrGiveFiles[] = "; give its .proto files by --proto FILE -I DIR";

absl::Status ErrorOf(const Controller& controller) {
  if (controller.connection() == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("the server cannot be reached: ", controller.ErrorText()));
  }
  if (controller.ErrorCode() == kNoService) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the server does not tell its services (ServerOptions::reflection)", kOrGiveFiles));
  }
  return absl::UnknownError(absl::StrCat("the server was asked for its services and failed: ",
                                         controller.status().message(), kOrGiveFiles));
}

class PoolErrors final : public DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element,
                const google::protobuf::Message*, ErrorLocation,
                const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat(file, ": ", element, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class ServerSchema final : public Schema {
 public:
  explicit ServerSchema(Channel& channel) : stub_(&channel) {}

  absl::Status List() {
    Controller controller;
    ListServicesRequest request;
    ListServicesResponse response;
    stub_.ListServices(&controller, &request, &response, nullptr);
    if (controller.Failed()) return ErrorOf(controller);
    services_.assign(response.service().begin(), response.service().end());
    return absl::OkStatus();
  }

  absl::StatusOr<const ServiceDescriptor*> Find(const std::string& service) override {
    if (const auto* known = pool_.FindServiceByName(service)) return known;
    Controller controller;
    GetFilesRequest request;
    GetFilesResponse response;
    request.set_service(service);
    stub_.GetFiles(&controller, &request, &response, nullptr);
    if (controller.Failed()) return ErrorOf(controller);
    for (const FileDescriptorProto& file : response.files().file()) {
      if (pool_.FindFileByName(file.name()) != nullptr) continue;
      PoolErrors errors;
      if (pool_.BuildFileCollectingErrors(file, &errors) == nullptr) {
        return absl::UnknownError(absl::StrCat(
            "the files that the server tells do not fit together: ", errors.text(), kOrGiveFiles));
      }
    }
    if (const auto* found = pool_.FindServiceByName(service)) return found;
    return absl::UnknownError(
        absl::StrCat("the server told files without the service ", service, kOrGiveFiles));
  }

 private:
  Reflection_Stub stub_;
  DescriptorPool pool_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Schema>> AskServer(Channel& channel) {
  auto schema = std::make_unique<ServerSchema>(channel);
  if (absl::Status status = schema->List(); !status.ok()) return status;
  return schema;
}

}  // namespace farcall::cli
