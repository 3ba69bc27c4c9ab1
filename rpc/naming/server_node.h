// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_SERVER_NODE_H_
#define FARCALL_RPC_NAMING_SERVER_NODE_H_

#include <compare>
#include <string>

#include "transport/address.h"

namespace farcall {

// A server as naming tells it. Two are the same server if address and tag are; where there is no
// address (kNone), if host and tag are.
struct ServerNode {
  Address address;   // kNone: `host` is resolved at each connect
  std::string host;  // "name:port" that it was found by, for TLS and messages; may be empty
  std::string tag;   // what stands behind the address in a list: "10.0.0.7:8002 tag"
  int weight = 1;    // 1 to 10,000; for "wrr", "wr" and "c_hash"
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_SERVER_NODE_H_
