// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device_list.h"

#include <algorithm>
#include <cerrno>

namespace farcall {

DeviceList::DeviceList(const VerbsApi& api) : api_(api) {
  errno = 0;
  contexts_ = api.rdma.get_devices(&count_);
  if (contexts_ == nullptr) error_ = errno;
}

DeviceList::~DeviceList() {
  if (contexts_ != nullptr) api_.rdma.free_devices(contexts_);
}

std::vector<ibv_context*> DeviceList::contexts() const {
  if (contexts_ == nullptr || count_ <= 0) return {};
  return std::vector<ibv_context*>(contexts_, contexts_ + count_);
}

bool IsListed(const VerbsApi& api, const ibv_device* device) {
  int count = 0;
  ibv_device** const list = api.ibv.get_device_list(&count);
  if (list == nullptr) return true;
  const bool listed = std::find(list, list + count, device) != list + count;
  api.ibv.free_device_list(list);
  return listed;
}

}  // namespace farcall
