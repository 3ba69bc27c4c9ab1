// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TESTING_BLOCKED_LISTENER_H_
#define FARCALL_TRANSPORT_TCP_TESTING_BLOCKED_LISTENER_H_

#include <vector>

#include "transport/address.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// A listening socket that accepts nothing and whose queue is full, so that
// the kernel answers no one who connects.
class BlockedListener {
 public:
  explicit BlockedListener(const Address& address);

  const Address& address() const { return address_; }
  // Makes room in the queue: who connects is answered again.
  void Unblock();

 private:
  UniqueFd fd_;
  Address address_;
  std::vector<UniqueFd> waiting_;
};

// `address`, or another of its kind, with nothing listening there.
Address ClosedAddress(const Address& address);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TESTING_BLOCKED_LISTENER_H_
