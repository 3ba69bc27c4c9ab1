// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_SET_UP_LINE_H_
#define FARCALL_TRANSPORT_RDMA_CM_SET_UP_LINE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "transport/loop/event_loop.h"
#include "transport/upgrade.h"

namespace farcall {

// The messages of one attempt between its end, on the control loop, and the connection that carries
// them, on a data loop.
class SetUpLine : public std::enable_shared_from_this<SetUpLine> {
 public:
  // An end of the attempt. With the control loop held.
  class End {
   public:
    virtual void OnMessage(absl::string_view message) = 0;
    // The connection does not wait for this attempt any more.
    virtual void OnHangUp() = 0;

   protected:
    ~End() = default;
  };

  SetUpLine(EventLoop& control, EventLoop& loop, UpgradeTransport::SendSetUp send)
      : control_(control), loop_(loop), send_(std::move(send)) {}

  // --- With the data loop held.

  void Receive(absl::string_view message) {
    control_.Post([self = shared_from_this(), message = std::string(message)] {
      if (self->end_ != nullptr) self->end_->OnMessage(message);
    });
  }
  void HangUp() {
    send_ = nullptr;
    control_.Post([self = shared_from_this()] {
      if (self->end_ != nullptr) self->end_->OnHangUp();
    });
  }

  // --- With the control loop held.

  // Null: what comes is dropped.
  void SetEnd(End* end) { end_ = end; }
  End* end() const { return end_; }
  void Send(std::string message) {
    loop_.Post([self = shared_from_this(), message = std::move(message)] {
      if (self->send_ != nullptr) self->send_(message);
    });
  }

 private:
  EventLoop& control_;
  EventLoop& loop_;
  UpgradeTransport::SendSetUp send_;  // with the data loop held; null: hung up
  End* end_ = nullptr;                // with the control loop held
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_SET_UP_LINE_H_
