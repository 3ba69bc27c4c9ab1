// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_INDEX_H_
#define FARCALL_RPC_HTTP_HTTP_INDEX_H_

#include "rpc/dispatch/service_map.h"
#include "rpc/http/http_message.h"
#include "rpc/http/http_page.h"

namespace farcall {

// The page at "/": what else is here, for people.
HttpResponse HttpIndex(const HttpPages& pages, const ServiceMap& services);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_INDEX_H_
