// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CONNECTION_INFO_CACHE_H_
#define FARCALL_RPC_SESSION_CONNECTION_INFO_CACHE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "transport/transport.h"
#include "transport/why_not_rdma.h"

namespace farcall {

// What Controller::connection() shows: a connection's info, shared by all its calls until it
// tells another transport or reason. With the connection's loop held.
class ConnectionInfoCache {
 public:
  using Info = std::shared_ptr<const ConnectionInfo>;

  // `connection` is always the same, until Forget.
  const Info& Of(const Connection& connection) {
    const uint64_t version = connection.info_version();
    if (info_ == nullptr || version != version_) [[unlikely]] {
      info_ = std::make_shared<const ConnectionInfo>(Fresh(connection));
      version_ = version;
    }
    return info_;
  }
  // The same, asked for in any case.
  ConnectionInfo Fresh(const Connection& connection) const {
    ConnectionInfo info = connection.info();
    if (!newer_reason_.ok()) {
      info.why_not_rdma = ReasonOf(newer_reason_);
      info.why_detail = DetailOf(newer_reason_);
    }
    return info;
  }
  // From now on the info of `connection`, which stays on TCP, has the reason that `why` carries: a
  // later attempt for RDMA has found it.
  void SetReason(const Connection& connection, const absl::Status& why) {
    newer_reason_ = why;
    info_ = nullptr;
    static_cast<void>(Of(connection));
  }
  // As it was when it was last asked for; null before.
  const Info& last() const { return info_; }
  void Forget() {
    info_ = nullptr;
    newer_reason_ = absl::OkStatus();
  }

 private:
  Info info_;
  uint64_t version_ = 0;
  absl::Status newer_reason_;  // OK: the connection's own reason counts
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CONNECTION_INFO_CACHE_H_
