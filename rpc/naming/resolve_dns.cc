// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/resolve_dns.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

bool HasAddresses(const std::optional<absl::StatusOr<DnsRecords>>& records) {
  return records && records->ok() && !(*records)->addresses.empty();
}

// RFC 6761, section 6.3: never asked of a name server.
bool IsLocalhost(const std::string& host) {
  return absl::EqualsIgnoreCase(host, "localhost") || absl::EqualsIgnoreCase(host, "localhost.");
}

DnsAnswer FromFile(const std::vector<Address>& addresses) {
  DnsAnswer answer;
  for (const Address& address : addresses) {
    const bool ipv6 = address.family() == AddressFamily::kIpv6;
    (ipv6 ? answer.ipv6 : answer.ipv4)->addresses.push_back(address);
  }
  return answer;
}

}  // namespace

DnsLookup::DnsLookup(const RuntimeParts& parts, EventLoop& loop, std::string host, uint16_t port,
                     const DnsOptions& options, OnAnswer on_answer)
    : loop_(loop), host_(std::move(host)), port_(port), on_answer_(std::move(on_answer)) {
  loop_.SetTimer(timer_, loop_.now() + kTimeout);
  const bool accepted = parts.run_blocking(
      [&loop, name = host_, port, options, self = std::weak_ptr<DnsLookup*>(self_)]() mutable {
        auto prepared = Prepare(name, port, options);
        loop.Post([self = std::move(self), prepared = std::move(prepared)]() mutable {
          if (const auto alive = self.lock()) (*alive)->OnPrepared(std::move(prepared));
        });
      });
  if (!accepted) Fail(absl::ResourceExhaustedError("too many names wait to be resolved already"));
}

DnsLookup::~DnsLookup() { loop_.CancelTimer(timer_); }

absl::StatusOr<DnsLookup::Prepared> DnsLookup::Prepare(const std::string& host, uint16_t port,
                                                       const DnsOptions& options) {
  absl::StatusOr<std::unique_ptr<AresOnLoop>> ares = AresOnLoop::Create(options);
  if (!ares.ok()) return ares.status();
  Prepared prepared{*std::move(ares), {}, {}};
  prepared.known = prepared.ares->InHostsFile(host, port);
  prepared.candidates = prepared.ares->Candidates(host);
  if (prepared.known.empty() && IsLocalhost(host)) {
    prepared.known = {Address::Ipv4({127, 0, 0, 1}, port)};
  }
  return prepared;
}

void DnsLookup::OnPrepared(absl::StatusOr<Prepared> prepared) {
  // Late: OnBoth is on its way, with what OnTime put down.
  if (ended_ || late_) return;
  if (!prepared.ok()) return Fail(prepared.status());
  if (!prepared->known.empty()) return End(FromFile(prepared->known));
  ares_ = std::move(prepared->ares);
  candidates_ = std::move(prepared->candidates);
  ares_->Attach(loop_);
  AskNext();
}

void DnsLookup::AskNext() {
  ipv4_.reset();
  ipv6_.reset();
  const std::string name = candidates_[next_++];
  for (const AddressFamily family : {AddressFamily::kIpv4, AddressFamily::kIpv6}) {
    ares_->Ask(name, family, port_, [this, family](absl::StatusOr<DnsRecords> records) {
      OnRecords(family, std::move(records));
    });
  }
}

// From inside c-ares, which must not be destroyed or asked now.
void DnsLookup::OnRecords(AddressFamily family, absl::StatusOr<DnsRecords> records) {
  if (ended_) return;
  (family == AddressFamily::kIpv6 ? ipv6_ : ipv4_) = std::move(records);
  if (ipv4_ && ipv6_) return proceed_.Post(loop_, [this] { OnBoth(); });
  if (!HasAddresses(ipv4_) && !HasAddresses(ipv6_)) return;
  loop_.SetTimer(timer_, std::min(timer_.when, loop_.now() + kOtherFamily));
}

void DnsLookup::OnBoth() {
  const bool found = HasAddresses(ipv4_) || HasAddresses(ipv6_);
  const bool answered = ipv4_->ok() && ipv6_->ok();
  // A name about which no server answered may be the right one: the next must not stand in for it.
  if (!found && answered && !late_ && next_ < candidates_.size()) return AskNext();
  DnsAnswer answer{*std::move(ipv4_), *std::move(ipv6_), std::nullopt};
  for (const auto& records : {&answer.ipv4, &answer.ipv6}) {
    if (!records->ok() || (*records)->addresses.empty()) continue;
    answer.ttl = std::min(answer.ttl.value_or(Duration::max()), (*records)->ttl);
  }
  End(std::move(answer));
}

void DnsLookup::OnTime() {
  late_ = true;
  const absl::Status late = absl::DeadlineExceededError("name servers do not answer");
  if (!ipv4_) ipv4_ = late;
  if (!ipv6_) ipv6_ = late;
  // From the mailbox: then the timer, which the owner may destroy, does not run.
  proceed_.Post(loop_, [this] { OnBoth(); });
}

void DnsLookup::Fail(const absl::Status& why) { End(DnsAnswer{why, why, std::nullopt}); }

void DnsLookup::End(DnsAnswer answer) {
  if (std::exchange(ended_, true)) return;
  loop_.CancelTimer(timer_);
  proceed_.Post(loop_, [this, answer = std::move(answer)]() mutable {
    const OnAnswer on_answer = std::move(on_answer_);
    on_answer(std::move(answer));
  });
}

}  // namespace farcall
