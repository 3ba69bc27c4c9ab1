// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CONNECTION_INFO_CACHE_H_
#define FARCALL_RPC_SESSION_CONNECTION_INFO_CACHE_H_

#include <cstdint>
#include <memory>

#include "transport/transport.h"

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
      info_ = std::make_shared<const ConnectionInfo>(connection.info());
      version_ = version;
    }
    return info_;
  }
  // As it was when it was last asked for; null before.
  const Info& last() const { return info_; }
  void Forget() { info_ = nullptr; }

 private:
  Info info_;
  uint64_t version_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CONNECTION_INFO_CACHE_H_
