// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_CARRIER_ACCEPT_GATE_H_
#define FARCALL_TRANSPORT_CARRIER_ACCEPT_GATE_H_

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "transport/transport.h"

namespace farcall {

// What a Listener promises about OnAccept when it is closed. Any thread.
//
// The code that accepts a connection is inside meanwhile; Close waits until none is. It
// waits for code that holds a loop, never for a loop's turn, so it ends even if no
// loop is driven.
class AcceptGate {
 public:
  // Inside while owns_lock(), which is false from the beginning if the gate is closed.
  using Pass = std::shared_lock<std::shared_mutex>;

  explicit AcceptGate(Transport::OnAccept on_accept) : on_accept_(std::move(on_accept)) {}

  // Not from inside.
  Pass Enter() {
    Pass pass(mutex_);
    if (!open_) pass.unlock();
    return pass;
  }
  // From inside, with `loop` held.
  void Accept(EventLoop& loop, std::unique_ptr<Connection> connection) const {
    on_accept_(loop, std::move(connection));
  }

  // No thread is or gets inside when it has returned. Not from inside, nor with a lock that
  // OnAccept takes.
  void Close() {
    const std::unique_lock<std::shared_mutex> alone(mutex_);
    open_ = false;
  }

 private:
  const Transport::OnAccept on_accept_;
  std::shared_mutex mutex_;
  bool open_ = true;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CARRIER_ACCEPT_GATE_H_
