// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_LINK_SETTINGS_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_LINK_SETTINGS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "transport/link/upgrade/upgrade_options.h"
#include "transport/link/upgrade/upgrade_record.h"
#include "transport/upgrade.h"

namespace farcall {

// Fills the bytes with unpredictable ones. Any thread.
using RandomBytes = absl::AnyInvocable<void(std::span<uint8_t>) const>;

// What the connections of one LinkTransport share. Immutable, any thread.
struct LinkSettings {
  UpgradeOptions options;
  UpgradeTransport* rdma = nullptr;  // null: none is built in
  UpgradeRecord* record = nullptr;
  RandomBytes random;
};

// How the client of one connection shows that it may be upgraded. Null where it needs no proof.
struct Introduction {
  std::function<std::string()> credential;        // client: what it shows
  std::function<bool(absl::string_view)> verify;  // server: whether that is enough
};

enum class LinkRole : uint8_t { kClient, kServer };

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_LINK_SETTINGS_H_
