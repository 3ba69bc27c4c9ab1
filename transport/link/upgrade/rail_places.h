// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_RAIL_PLACES_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_RAIL_PLACES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "transport/upgrade.h"

namespace farcall {

// Over which of a server's devices the rails of one connection are, and what it is offered for the
// next one: the devices that have the fewest. A rail stays where it is as long as it lives, so one
// that was put beside another while a cable was cut would be there when the cable is back.
class RailPlaces {
 public:
  // Offers in a row that lead to no connection over a device that was never used; then it is
  // offered what is in use, too: the client may have no way there.
  static constexpr uint32_t kTries = 3;

  void OnAdmitted(uint32_t generation, const std::string& device) {
    devices_[generation] = device;
    known_.insert(device);
    unused_ = 0;
  }
  void OnLost(uint32_t generation) { devices_.erase(generation); }
  // No client has come by this offer.
  void OnUnused() { ++unused_; }

  // What of `addresses`, and in which order. Some, if there are some.
  std::vector<UpgradeAddress> Offer(std::vector<UpgradeAddress> addresses) const;

 private:
  std::map<uint32_t, std::string> devices_;  // of the rails that are there, by their generations
  std::set<std::string> known_;              // that a rail has been over
  uint32_t unused_ = 0;                      // offers in a row
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_RAIL_PLACES_H_
