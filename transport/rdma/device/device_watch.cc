// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device_watch.h"

#include <dirent.h>

#include <memory>
#include <utility>

namespace farcall {

DeviceWatch::DeviceWatch(const std::string& sys_class)
    : directory_(sys_class + "/infiniband_verbs") {}

bool DeviceWatch::Changed() {
  struct Closer {
    void operator()(DIR* directory) const { closedir(directory); }
  };
  std::map<std::string, uint64_t> now;
  const std::unique_ptr<DIR, Closer> directory(opendir(directory_.c_str()));
  while (directory != nullptr) {
    const dirent* const entry = readdir(directory.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") now[name] = entry->d_ino;
  }
  return std::exchange(seen_, now) != now;
}

}  // namespace farcall
