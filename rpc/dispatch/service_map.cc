// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/service_map.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"

namespace farcall {

absl::Status ServiceMap::Add(google::protobuf::Service& service) {
  const google::protobuf::ServiceDescriptor& descriptor = *service.GetDescriptor();
  const auto found = by_name_.find(descriptor.full_name());
  if (found != by_name_.end() &&
      found->second->service->GetDescriptor()->full_name() == descriptor.full_name()) {
    return absl::AlreadyExistsError(
        absl::StrCat("the server has a service ", descriptor.full_name(), " already"));
  }
  Entry entry;
  entry.service = &service;
  for (int i = 0; i < descriptor.method_count(); ++i) {
    states_.push_back(std::make_unique<MethodState>());
    const Found method{&service, descriptor.method(i), states_.back().get()};
    entry.methods[descriptor.method(i)->name()] = method;
    all_.push_back(method);
  }
  const auto shared = std::make_shared<const Entry>(std::move(entry));
  by_name_[descriptor.full_name()] = shared;
  by_name_.try_emplace(descriptor.name(), shared);
  return absl::OkStatus();
}

absl::Status ServiceMap::AddOwned(std::unique_ptr<google::protobuf::Service> service) {
  owned_.push_back(std::move(service));
  return Add(*owned_.back());
}

void ServiceMap::DropMessages() {
  for (const std::unique_ptr<MethodState>& state : states_) {
    state->requests.Close();
    state->responses.Close();
  }
}

ServiceMap::Found ServiceMap::Find(absl::string_view service, absl::string_view method) const {
  const auto entry = by_name_.find(service);
  if (entry == by_name_.end()) return {};
  const auto found = entry->second->methods.find(method);
  if (found == entry->second->methods.end()) return {entry->second->service, nullptr, nullptr};
  return found->second;
}

ServiceMap::Found ServiceMap::Find(absl::string_view full_method) const {
  const size_t dot = full_method.rfind('.');
  if (dot == absl::string_view::npos) return {};
  return Find(full_method.substr(0, dot), full_method.substr(dot + 1));
}

}  // namespace farcall
