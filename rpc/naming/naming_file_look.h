// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAMING_FILE_LOOK_H_
#define FARCALL_RPC_NAMING_NAMING_FILE_LOOK_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rpc/naming/server_node.h"

namespace farcall {

// A file of servers that is looked at again and again, by its path: so it may be replaced by
// rename(2), and what the path links to may change. Blocks; any thread, one look at a time.
class NamingFileLook {
 public:
  using WallTime = std::chrono::system_clock::time_point;  // what files bear
  // A file that was written so lately may be half written: a change is taken when it is older.
  static constexpr std::chrono::milliseconds kSettled{100};

  struct Result {
    enum class What : uint8_t {
      kSame,   // as at the last look
      kYoung,  // changed within kSettled: to be looked at again then
      kRead,   // `nodes`, perhaps the same as before
    } what = What::kSame;
    absl::StatusOr<std::vector<ServerNode>> nodes = std::vector<ServerNode>();
  };

  explicit NamingFileLook(std::string path) : path_(std::move(path)) {}

  // Before the first success, what is there is taken, however young.
  Result Look(WallTime now);

 private:
  // What changes when a file does, stat(2).
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    WallTime modified;
    WallTime changed;
    bool operator==(const Stamp&) const = default;
  };

  Result Read(int fd, const Stamp& stamp, WallTime now);

  const std::string path_;
  bool known_ = false;          // a look succeeded
  std::optional<Stamp> stamp_;  // of the last success, if nothing can have slipped in after it
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_FILE_LOOK_H_
