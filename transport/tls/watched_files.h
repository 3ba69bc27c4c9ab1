// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_WATCHED_FILES_H_
#define FARCALL_TRANSPORT_TLS_WATCHED_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace farcall {

// Which contents some files had at one time, by what stat(2) says: symbolic links are followed,
// so that Kubernetes' swap of a secret's link is seen.
class FileStamps {
 public:
  // Of a file that is not there: that. Empty names are left out.
  static FileStamps Of(const std::vector<std::string>& files);

  bool operator==(const FileStamps& other) const = default;

 private:
  struct Stamp {
    bool there = false;
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    bool operator==(const Stamp& other) const = default;
  };

  std::vector<Stamp> stamps_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_WATCHED_FILES_H_
