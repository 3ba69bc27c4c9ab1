// SPDX-License-Identifier: Apache-2.0
//
// What libibverbs calls statuses and events.

#include <iterator>

#include "transport/rdma/testing/fabric/fake_api.h"

namespace farcall {

const char* FakeWcStatusStr(ibv_wc_status status) {
  static constexpr const char* kNames[] = {
      "success",
      "local length error",
      "local QP operation error",
      "local EE context operation error",
      "local protection error",
      "Work Request Flushed Error",
      "memory management operation error",
      "bad response error",
      "local access error",
      "remote invalid request error",
      "remote access error",
      "remote operation error",
      "transport retry counter exceeded",
      "RNR retry counter exceeded",
      "local RDD violation error",
      "remote invalid RD request",
      "aborted error",
      "invalid EE context number",
      "invalid EE context state",
      "fatal error",
      "response timeout error",
      "general error",
      "TM error",
      "TM software rendezvous",
  };
  const size_t index = static_cast<size_t>(status);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

const char* FakeEventTypeStr(ibv_event_type type) {
  static constexpr const char* kNames[] = {
      "CQ error",
      "local work queue catastrophic error",
      "invalid request local work queue error",
      "local access violation work queue error",
      "communication established",
      "send queue drained",
      "path migrated",
      "path migration request error",
      "local catastrophic error",
      "port active",
      "port error",
      "LID change",
      "P_Key change",
      "SM change",
      "SRQ catastrophic error",
      "SRQ limit reached",
      "last WQE reached",
      "client reregistration",
      "GID table change",
      "WQ fatal",
  };
  const size_t index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

}  // namespace farcall
