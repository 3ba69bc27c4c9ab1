// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_ORIGIN_H_
#define FARCALL_RPC_HTTP_HTTP_ORIGIN_H_

#include "rpc/http/http_head_scanner.h"
#include "rpc/http/http_message.h"

namespace farcall {

// Why `request` must not become a call: a browser sends it, or may, for a page of another site,
// which so reaches servers of the network that the browser is in. The status is 0 where it may.
HttpRefusal RefuseOtherSite(const HttpRequest& request);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_ORIGIN_H_
