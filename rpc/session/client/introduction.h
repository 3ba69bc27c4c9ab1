// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_INTRODUCTION_H_
#define FARCALL_RPC_SESSION_CLIENT_INTRODUCTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "rpc/authenticator.h"
#include "rpc/session/client/client_session.h"
#include "transport/transport.h"

namespace farcall {

// The credential that a client shows. What `auth` throws is an error, too.
absl::StatusOr<std::string> CredentialOf(const Authenticator& auth);

// How a session with `target` connects.
ConnectOptions ToConnectOptions(const ClientSession::Environment& environment,
                                const Target& target);

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_INTRODUCTION_H_
