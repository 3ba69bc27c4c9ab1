// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_PROCESS_RESOURCES_H_
#define FARCALL_RPC_TESTING_PROCESS_RESOURCES_H_

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace farcall {

// Of this process, as the kernel counts. Linux; 0 where it does not tell.
inline size_t EntriesOf(const char* directory) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(directory, error);
  return error ? 0 : static_cast<size_t>(std::distance(begin(entries), end(entries)));
}
inline size_t OpenDescriptors() { return EntriesOf("/proc/self/fd"); }
inline size_t Threads() { return EntriesOf("/proc/self/task"); }
// Bytes in memory now.
inline size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  size_t resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_PROCESS_RESOURCES_H_
