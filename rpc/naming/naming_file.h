// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAMING_FILE_H_
#define FARCALL_RPC_NAMING_NAMING_FILE_H_

#include <memory>
#include <string>

#include "rpc/naming/naming.h"

namespace farcall {

// "file://PATH": looked at each `interval` and by Refresh, on the thread for what blocks. Polled
// rather than watched: inotify(7) tells nothing of files on NFS and of what others do to FUSE.
std::unique_ptr<Naming> StartFileNaming(const RuntimeParts& parts, EventLoop& loop,
                                        std::string path, Duration interval,
                                        Naming::OnNodes on_nodes);

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_FILE_H_
