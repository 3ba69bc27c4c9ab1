// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/service_map.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"

namespace farcall {

absl::Status ServiceMap::Add(google::protobuf::Service& service, AttachmentPlacer* placer) {
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
    states_.back()->placer = placer;
    const Found method{&service, descriptor.method(i), states_.back().get()};
    entry.methods[descriptor.method(i)->name()] = method;
    all_.push_back(method);
  }
  has_placer_ |= placer != nullptr;
  const auto shared = std::make_shared<const Entry>(std::move(entry));
  by_name_[descriptor.full_name()] = shared;
  by_name_.try_emplace(descriptor.name(), shared);
  for (auto unmet = unmet_.begin(); unmet != unmet_.end();) {
    const Found method = Find(unmet->first);
    if (method.state != nullptr) method.state->limit.Set(unmet->second);
    unmet = method.state != nullptr ? unmet_.erase(unmet) : std::next(unmet);
  }
  return absl::OkStatus();
}

absl::Status ServiceMap::AddOwned(std::unique_ptr<google::protobuf::Service> service,
                                  AttachmentPlacer* placer) {
  absl::Status added = Add(*service, placer);
  if (added.ok()) owned_.push_back(std::move(service));
  return added;
}

void ServiceMap::RemoveLastOwned() {
  const google::protobuf::Service* const last = owned_.back().get();
  std::erase_if(all_, [&](const Found& method) { return method.service == last; });
  absl::erase_if(by_name_, [&](const auto& named) { return named.second->service == last; });
  owned_.pop_back();
}

void ServiceMap::SetLimit(absl::string_view full_method, MaxConcurrency max) {
  if (MethodState* const state = Find(full_method).state; state != nullptr) {
    state->limit.Set(max);
  } else {
    unmet_[std::string(full_method)] = max;
  }
}

MaxConcurrency ServiceMap::LimitOf(absl::string_view full_method) const {
  if (const MethodState* const state = Find(full_method).state; state != nullptr) {
    return state->limit.setting();
  }
  const auto unmet = unmet_.find(full_method);
  return unmet != unmet_.end() ? unmet->second : MaxConcurrency(0);
}

void ServiceMap::DropMessages() {
  for (const std::unique_ptr<MethodState>& state : states_) {
    state->messages.Close();
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
