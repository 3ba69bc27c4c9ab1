// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_port.h"

#include <utility>

namespace farcall {

void SimPort::Send(SimPacket packet, const std::shared_ptr<SimPort>& from,
                   const std::shared_ptr<SimPort>& to) {
  if (to->cut_->load()) return;
  to->loop_.Post([packet = std::move(packet), from, to]() mutable {
    if (to->receiver_ != nullptr) {
      to->receiver_->Receive(std::move(packet));
    } else if (packet.kind == SimPacket::Kind::kData) {
      Send({SimPacket::Kind::kReset, std::string(), 0}, to, from);
    }
  });
}

}  // namespace farcall
