// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/device/fake_host.h"

#include <algorithm>
#include <utility>

#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr size_t kMaxViolations = 100;

}  // namespace

FakeHost::FakeHost(FakeFabricOptions fabric_options, const ibv_context_ops& ops)
    : options(std::move(fabric_options)), data_path(ops), random(options.seed) {
  for (const FakeDeviceOptions& device : options.devices) {
    devices.push_back(std::make_unique<FakeDevice>(devices.size(), device));
  }
}

void FakeHost::Violation(std::string what) {
  if (violations.size() < kMaxViolations) violations.push_back(std::move(what));
}

FakeDevice& FakeHost::Device(absl::string_view name) {
  for (const auto& device : devices) {
    if (device->options.name == name) return *device;
  }
  CheckFailed("no fake device has this name", __FILE__, __LINE__, __func__);
}

FakeContext& FakeHost::Open(FakeDevice& device, bool of_cm) {
  return *contexts.emplace_back(std::make_unique<FakeContext>(*this, device, of_cm));
}

FakeContext* FakeHost::FindCmContext(const FakeDevice& device) const {
  for (const auto& context : contexts) {
    if (&context->owner == &device && context->librdmacm && !context->closed && !context->dead &&
        !context->replaced) {
      return context.get();
    }
  }
  return nullptr;
}

FakeContext& FakeHost::CmContext(FakeDevice& device) {
  FakeContext* const found = FindCmContext(device);
  return found != nullptr ? *found : Open(device, /*of_cm=*/true);
}

bool FakeHost::RemovalPending(const FakeDevice& device) const {
  return std::any_of(contexts.begin(), contexts.end(), [&](const auto& context) {
    return &context->owner == &device && context->dead && !context->closed && !context->released;
  });
}

bool FakeHost::IsCut(const FakeDevice& from, const FakeDevice& to) const {
  return std::any_of(cuts.begin(), cuts.end(),
                     [&](const CutPath& cut) { return cut.Joins(from, to); });
}

bool FakeHost::Silent(const FakeDevice& from, const FakeDevice& to) const {
  return std::any_of(cuts.begin(), cuts.end(),
                     [&](const CutPath& cut) { return cut.silent && cut.Joins(from, to); });
}

}  // namespace farcall
