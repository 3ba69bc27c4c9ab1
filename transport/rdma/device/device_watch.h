// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_WATCH_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_WATCH_H_

#include <cstdint>
#include <map>
#include <string>

namespace farcall {

// Sees RDMA devices come and go by their entries in sysfs. Nothing tells a process: Linux 6.1
// sends events of RDMA devices only to who has them open, and none before it takes one away;
// inotify(7) sees nothing in sysfs, and uevents do not reach every container. One thread.
class DeviceWatch {
 public:
  // Of /sys/class, or a test's stand-in for it.
  explicit DeviceWatch(const std::string& sys_class);

  // Whether there are others than when it was asked last; the first time, whether there are
  // any. One that goes away is out of the directory before the kernel waits for its
  // users; one of the same name that comes back is another one. Tens of microseconds.
  bool Changed();

 private:
  const std::string directory_;
  std::map<std::string, uint64_t> seen_;  // names, and numbers that the kernel gives once
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_WATCH_H_
