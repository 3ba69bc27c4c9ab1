// SPDX-License-Identifier: Apache-2.0
//
// The error numbers that travel in RpcResponseMeta.error_code and that
// Controller::ErrorCode() shows. They are brpc's (src/brpc/errno.proto), so that either
// side may be brpc. Numbers below 1000 are errno's; services may answer with any other.

#ifndef FARCALL_RPC_ERRORS_H_
#define FARCALL_RPC_ERRORS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace farcall {

enum RpcError : int {
  kNoService = 1001,      // ENOSERVICE: the server has no such service
  kNoMethod = 1002,       // ENOMETHOD: the service has no such method
  kBadRequest = 1003,     // EREQUEST: the request could not be parsed, or may not be sent
  kAuthFailed = 1004,     // ERPCAUTH: authentication failed
  kTooManyFails = 1005,   // ETOOMANYFAILS: too many of the calls under this one failed
  kBackupRequest = 1007,  // EBACKUPREQUEST: the timer of the backup request; never a result
  kRpcTimedOut = 1008,    // ERPCTIMEDOUT: the deadline of the call passed
  kFailedSocket = 1009,   // EFAILEDSOCKET: the connection broke during the call
  kHttp = 1010,           // EHTTP: an HTTP status that is no success
  kOvercrowded = 1011,    // EOVERCROWDED: too much waits to be sent already
  kEof = 1014,            // EEOF: the peer closed the connection
  kSsl = 1016,            // ESSL: TLS refused the connection, at one of its ends
  kRejected = 1018,       // EREJECT: refused before it was sent, to spare the servers
  kInternal = 2001,       // EINTERNAL: the handler or the server failed
  kBadResponse = 2002,    // ERESPONSE: the response could not be parsed, or may not be sent
  kLogoff = 2003,         // ELOGOFF: the server is stopping
  kLimit = 2004,          // ELIMIT: a limit on calls in progress is reached
  kClosed = 2005,         // ECLOSE: this side closed the connection
  kRdma = 3001,           // ERDMA: RDMA failed
  kRdmaMemory = 3002,     // ERDMAMEM: memory could not be registered
};

// "ENOSERVICE", "ECONNREFUSED"; "OK" for 0, and "UNKNOWN" for numbers that are neither brpc's nor
// errno's. Static.
const char* ErrorName(int code);

// The nearest code; kUnknown where nothing is known about the number.
absl::StatusCode ToStatusCode(int code);

// For callers that want an absl::Status: "ENOSERVICE (1001): text". 0 is OK whatever
// the text.
absl::Status ToStatus(int code, absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_RPC_ERRORS_H_
