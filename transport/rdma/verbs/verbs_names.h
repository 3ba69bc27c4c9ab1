// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_VERBS_VERBS_NAMES_H_
#define FARCALL_TRANSPORT_RDMA_VERBS_VERBS_NAMES_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace farcall {

// The enumerators of verbs.h for metrics, without their prefix: "retry_exc_err", "port_err".
// What is not in the list, which a newer device may say, is the last, "other".
constexpr size_t kCompletionStatuses = 24;
constexpr size_t kAsyncEventTypes = 20;

// Below the constants above; any number is taken.
size_t CompletionStatusIndex(int status);  // of an ibv_wc_status
size_t AsyncEventIndex(int type);          // of an ibv_event_type
// By index.
absl::string_view CompletionStatusName(size_t index);
absl::string_view AsyncEventName(size_t index);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_VERBS_VERBS_NAMES_H_
