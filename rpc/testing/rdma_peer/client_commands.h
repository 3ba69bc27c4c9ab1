// SPDX-License-Identifier: Apache-2.0
//
// What a test tells the client, a line each, and what it answers, a line each:
//
//   calls COUNT BYTES IN_FLIGHT  COUNT calls on each connection, BYTES attached
//                                done ok= failed= wrong= rdma= tcp= error=
//   load BYTES IN_FLIGHT         the same until `stop`           started
//   load LEAST-MOST IN_FLIGHT    with sizes between, from 1      started
//                                calls, load: one word more, and each answer has so many bytes
//                                attached; else as many as its request
//   progress                     of that load so far             progress ok= ...
//   stop                         ends it                         done ok= ...
//   state                        a call on each connection
//                                state connections= rdma= tcp= failed= why= device= rails= over=
//                                detail=
//   await WHAT SECONDS           state, again and again, until every connection has WHAT: rdma,
//                                tcp, failed or the name of a reason; and tells the last state
//   made                         calls that were ever begun      made calls=
//   open COUNT                   drops all connections, makes COUNT new ones     opened
//
// `why`, `device` and `detail` are of the first connection that is not over RDMA, else of the
// first; a failed call's `detail` is its error; `over` has the devices of the rails of the
// first, with commas. A line that it does not understand: error TEXT.

#ifndef FARCALL_RPC_TESTING_RDMA_PEER_CLIENT_COMMANDS_H_
#define FARCALL_RPC_TESTING_RDMA_PEER_CLIENT_COMMANDS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/runtime/channel.h"
#include "rpc/testing/rdma_peer/checked_load.h"

namespace farcall::rdma_peer {

// One thread.
class ClientCommands {
 public:
  ClientCommands(std::string server, const ChannelOptions& options);

  absl::Status Open(int connections);
  // The answer, without its end of line.
  std::string Do(absl::string_view line);

 private:
  struct State;

  std::string Calls(const std::vector<std::string>& words);
  std::string Load(const std::vector<std::string>& words);
  std::string Await(const std::vector<std::string>& words);
  // By a call on each of these connections, one after the other.
  State Look(size_t first, size_t end);

  const std::string server_;
  const ChannelOptions options_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::unique_ptr<CheckedLoad> load_;
};

}  // namespace farcall::rdma_peer

#endif  // FARCALL_RPC_TESTING_RDMA_PEER_CLIENT_COMMANDS_H_
