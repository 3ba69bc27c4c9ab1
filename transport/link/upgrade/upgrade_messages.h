// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_MESSAGES_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_MESSAGES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/link/hello/link.pb.h"
#include "transport/upgrade.h"

namespace farcall {

// Bytes of a credential in an ask.
constexpr size_t kMaxCredential = 3072;

// Payloads of UPGRADE_ASK, UPGRADE_OFFER, UPGRADE_DECLINE and UPGRADE_SETUP.
// A credential above kMaxCredential is left out.
std::string EncodeAsk(uint32_t generation, const absl::Status& why,
                      absl::string_view credential = "");
std::string EncodeOffer(const UpgradePass& pass, const std::vector<UpgradeAddress>& addresses);
std::string EncodeDecline(uint32_t generation, const absl::Status& why);
// A decline of the last generation, which is over: the next may be asked for soon.
std::string EncodeAgain(uint32_t generation);

// kInvalidArgument: malformed, a breach of the protocol.
struct AskMessage {
  uint32_t generation = 0;
  absl::Status why;  // why the client has none
  std::string credential;
};
absl::StatusOr<AskMessage> ParseAsk(absl::string_view payload);

// Addresses of families that this version does not know, or without a port, are left out.
struct OfferMessage {
  UpgradePass pass;
  std::vector<UpgradeAddress> addresses;
};
absl::StatusOr<OfferMessage> ParseOffer(absl::string_view payload);

struct DeclineMessage {
  uint32_t generation = 0;
  absl::Status why;
  bool again = false;
};
absl::StatusOr<DeclineMessage> ParseDecline(absl::string_view payload);

// kInvalidArgument too: its message is longer than kMaxSetUpBytes.
struct SetUpMessage {
  uint32_t generation = 0;
  std::string message;
};
std::string EncodeSetUp(const SetUpMessage& message);
absl::StatusOr<SetUpMessage> ParseSetUp(absl::string_view payload);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_MESSAGES_H_
