// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_STATUS_H_
#define FARCALL_RPC_HTTP_HTTP_STATUS_H_

namespace farcall {

// RFC 9110, section 15: "Not Found". "Status" for numbers that are not used here. Static.
const char* HttpReason(int status);

// What a call that failed with `code` (rpc/errors.h, or one of the service's own) is answered
// with; brpc's choice.
int HttpStatusOf(int code);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_STATUS_H_
