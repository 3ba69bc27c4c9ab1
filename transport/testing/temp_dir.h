// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_TEMP_DIR_H_
#define FARCALL_TRANSPORT_TESTING_TEMP_DIR_H_

#include <string>

namespace farcall {

// A directory of its own for a test's unix sockets, removed with all that is in it. Right
// under /tmp, since a socket's path has at most 107 bytes.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_TEMP_DIR_H_
