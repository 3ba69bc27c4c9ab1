// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_PAGE_TEXT_H_
#define FARCALL_RPC_STATUS_PAGE_TEXT_H_

namespace farcall {

// The files of rpc/status/page, joined when the library is built, with "@status@" where the
// status belongs.
extern const char kStatusPageText[];

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_PAGE_TEXT_H_
