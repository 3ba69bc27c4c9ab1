// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/verbs/verbs_names.h"

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>

#include "transport/base/check.h"

namespace farcall {
namespace {

// In the order of enum ibv_wc_status.
constexpr std::array<absl::string_view, kCompletionStatuses> kStatuses = {"success",
                                                                          "loc_len_err",
                                                                          "loc_qp_op_err",
                                                                          "loc_eec_op_err",
                                                                          "loc_prot_err",
                                                                          "wr_flush_err",
                                                                          "mw_bind_err",
                                                                          "bad_resp_err",
                                                                          "loc_access_err",
                                                                          "rem_inv_req_err",
                                                                          "rem_access_err",
                                                                          "rem_op_err",
                                                                          "retry_exc_err",
                                                                          "rnr_retry_exc_err",
                                                                          "loc_rdd_viol_err",
                                                                          "rem_inv_rd_req_err",
                                                                          "rem_abort_err",
                                                                          "inv_eecn_err",
                                                                          "inv_eec_state_err",
                                                                          "fatal_err",
                                                                          "resp_timeout_err",
                                                                          "general_err",
                                                                          "tm_err",
                                                                          "other"};
static_assert(IBV_WC_TM_ERR + 2 == kCompletionStatuses);

// In the order of enum ibv_event_type.
constexpr std::array<absl::string_view, kAsyncEventTypes> kEvents = {"cq_err",
                                                                     "qp_fatal",
                                                                     "qp_req_err",
                                                                     "qp_access_err",
                                                                     "comm_est",
                                                                     "sq_drained",
                                                                     "path_mig",
                                                                     "path_mig_err",
                                                                     "device_fatal",
                                                                     "port_active",
                                                                     "port_err",
                                                                     "lid_change",
                                                                     "pkey_change",
                                                                     "sm_change",
                                                                     "srq_err",
                                                                     "srq_limit_reached",
                                                                     "qp_last_wqe_reached",
                                                                     "client_reregister",
                                                                     "gid_change",
                                                                     "other"};
static_assert(IBV_EVENT_GID_CHANGE + 2 == kAsyncEventTypes);

size_t IndexOf(int number, size_t other) {
  return number < 0 ? other : std::min(static_cast<size_t>(number), other);
}

}  // namespace

size_t CompletionStatusIndex(int status) { return IndexOf(status, kCompletionStatuses - 1); }
size_t AsyncEventIndex(int type) { return IndexOf(type, kAsyncEventTypes - 1); }

absl::string_view CompletionStatusName(size_t index) {
  Check(index < kStatuses.size(), "a status is one of the list");
  return kStatuses[index];
}

absl::string_view AsyncEventName(size_t index) {
  Check(index < kEvents.size(), "an event is one of the list");
  return kEvents[index];
}

}  // namespace farcall
