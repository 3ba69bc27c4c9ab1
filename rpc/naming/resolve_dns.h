// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_RESOLVE_DNS_H_
#define FARCALL_RPC_NAMING_RESOLVE_DNS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rpc/naming/resolve_ares.h"
#include "rpc/runtime_parts.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/posted_call.h"

namespace farcall {

// What is known of a name. Of a family about which no server answered, an error.
struct DnsAnswer {
  absl::StatusOr<DnsRecords> ipv4 = DnsRecords();
  absl::StatusOr<DnsRecords> ipv6 = DnsRecords();
  std::optional<Duration> ttl;  // empty: from hosts(5), which has none
};

// One look-up of all addresses of a name: hosts(5), then name servers, by resolv.conf(5), in at
// most kTimeout. Only the files block, on the thread for that. Lives with the loop held.
class DnsLookup {
 public:
  static constexpr Duration kTimeout = std::chrono::seconds(5);
  // How long an answer waits for that of the other family: some servers leave AAAA unanswered.
  static constexpr Duration kOtherFamily = std::chrono::seconds(1);

  // Once, from the loop's mailbox; it may destroy the look-up.
  using OnAnswer = std::function<void(DnsAnswer)>;

  DnsLookup(const RuntimeParts& parts, EventLoop& loop, std::string host, uint16_t port,
            const DnsOptions& options, OnAnswer on_answer);
  DnsLookup(const DnsLookup&) = delete;
  DnsLookup& operator=(const DnsLookup&) = delete;
  ~DnsLookup();

 private:
  // What the files say.
  struct Prepared {
    std::unique_ptr<AresOnLoop> ares;
    std::vector<Address> known;
    std::vector<std::string> candidates;
  };
  static absl::StatusOr<Prepared> Prepare(const std::string& host, uint16_t port,
                                          const DnsOptions& options);

  void OnPrepared(absl::StatusOr<Prepared> prepared);
  void AskNext();
  void OnRecords(AddressFamily family, absl::StatusOr<DnsRecords> records);
  void OnBoth();
  void OnTime();
  void Fail(const absl::Status& why);
  void End(DnsAnswer answer);

  EventLoop& loop_;
  const std::string host_;
  const uint16_t port_;
  OnAnswer on_answer_;
  std::unique_ptr<AresOnLoop> ares_;
  std::vector<std::string> candidates_;
  size_t next_ = 0;
  std::optional<absl::StatusOr<DnsRecords>> ipv4_;
  std::optional<absl::StatusOr<DnsRecords>> ipv6_;
  bool late_ = false;  // kTimeout or kOtherFamily is over
  bool ended_ = false;
  Timer timer_{[this] { OnTime(); }};
  PostedCall proceed_;
  // Dies with this.
  const std::shared_ptr<DnsLookup*> self_ = std::make_shared<DnsLookup*>(this);
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_RESOLVE_DNS_H_
