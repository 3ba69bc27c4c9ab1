// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/watched_files.h"

#include <sys/stat.h>

namespace farcall {
namespace {

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileStamps FileStamps::Of(const std::vector<std::string>& files) {
  FileStamps all;
  for (const std::string& file : files) {
    if (file.empty()) continue;
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) {
      all.stamps_.emplace_back();
      continue;
    }
    all.stamps_.push_back({true, found.st_dev, found.st_ino, found.st_size,
                           Nanoseconds(found.st_mtim), Nanoseconds(found.st_ctim)});
  }
  return all;
}

}  // namespace farcall
