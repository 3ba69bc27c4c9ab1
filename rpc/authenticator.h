// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_AUTHENTICATOR_H_
#define FARCALL_RPC_AUTHENTICATOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"

namespace farcall {

// Who the peer of a connection is, as the server's Authenticator found.
struct AuthContext {
  std::string user;
  std::string group;
  std::string roles;
  std::string starter;
  bool is_service = false;
};

// Proves to a server who its client is: once for each connection, with its first request
// (RpcMeta.authentication_data; the header "Authorization" in HTTP). Shared by threads. Over plain
// TCP a credential can be read on the way: use TLS. What it throws is an error, too.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // Client, with a loop held: must not block or call the library. An error fails the calls
  // that wait for the connection, with ERPCAUTH.
  virtual absl::StatusOr<std::string> GenerateCredential() const = 0;
  // Server, with a loop held: must not block or call the library. `credential` is empty where the
  // client sent none. An error is answered with ERPCAUTH and its message, and the connection
  // closes.
  virtual absl::StatusOr<AuthContext> VerifyCredential(absl::string_view credential,
                                                       const Address& client) const = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_AUTHENTICATOR_H_
