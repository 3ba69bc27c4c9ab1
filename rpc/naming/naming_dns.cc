// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_dns.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/naming/naming_pace.h"
#include "rpc/naming/naming_publisher.h"

namespace farcall {
namespace {

constexpr Duration kFloor = std::chrono::seconds(1);

const std::vector<Address>& AnswerOr(const absl::StatusOr<DnsRecords>& answer,
                                     const std::vector<Address>& known) {
  return answer.ok() ? answer->addresses : known;
}

class DnsNaming final : public Naming {
 public:
  DnsNaming(const RuntimeParts& parts, EventLoop& loop, Target name, Duration interval,
            const DnsOptions& options, OnNodes on_nodes)
      : parts_(parts),
        loop_(loop),
        name_(std::move(name)),
        options_(options),
        publisher_(absl::StrCat("dns://", name_.text), parts.log, std::move(on_nodes)),
        pace_(interval, kFloor, loop.now()) {
    SetTimer();
  }
  ~DnsNaming() override { loop_.CancelTimer(timer_); }

  void Refresh() override {
    pace_.Refresh(loop_.now());
    SetTimer();
  }

 private:
  void SetTimer() {
    if (const std::optional<TimePoint> due = pace_.due()) loop_.SetTimer(timer_, *due);
  }

  void LookUp() {
    pace_.OnStart(loop_.now());
    lookup_ = std::make_unique<DnsLookup>(parts_, loop_, name_.host, name_.port, options_,
                                          [this](const DnsAnswer& answer) { OnAnswer(answer); });
  }

  // From the mailbox. Publishing may destroy this: nothing is touched afterwards.
  void OnAnswer(const DnsAnswer& answer) {
    lookup_.reset();
    const absl::Status status = known_.Update(answer);
    if (status.ok()) {
      pace_.OnSuccess(loop_.now(), answer.ttl);
    } else {
      pace_.OnFailure(loop_.now());
    }
    SetTimer();
    if (!status.ok()) return publisher_.OnError(status);
    Nodes nodes;
    for (Address& address : known_.addresses()) {
      ServerNode& node = nodes.emplace_back();
      node.address = std::move(address);
      node.host = name_.text;
    }
    publisher_.OnNodes(std::move(nodes));
  }

  const RuntimeParts parts_;
  EventLoop& loop_;
  const Target name_;
  const DnsOptions options_;
  NamingPublisher publisher_;
  NamingPace pace_;
  DnsKnown known_;
  std::unique_ptr<DnsLookup> lookup_;  // null: none is under way
  Timer timer_{[this] { LookUp(); }};
};

}  // namespace

absl::Status DnsKnown::Update(const DnsAnswer& answer) {
  std::vector<Address> ipv4 = AnswerOr(answer.ipv4, ipv4_);
  std::vector<Address> ipv6 = AnswerOr(answer.ipv6, ipv6_);
  if (!answer.ipv4.ok() && !answer.ipv6.ok()) {
    return absl::UnavailableError(
        absl::StrCat("the name cannot be resolved: ", answer.ipv4.status().message()));
  }
  if (ipv4.empty() && ipv6.empty()) {
    const absl::Status& half = !answer.ipv4.ok() ? answer.ipv4.status() : answer.ipv6.status();
    if (!half.ok()) {
      return absl::UnavailableError(absl::StrCat("the name cannot be resolved: ", half.message()));
    }
    return absl::NotFoundError(
        "the name does not exist or has no address: is it spelled right, and is there such a "
        "Service, with a pod that is ready?");
  }
  ipv4_ = std::move(ipv4);
  ipv6_ = std::move(ipv6);
  return absl::OkStatus();
}

std::vector<Address> DnsKnown::addresses() const {
  std::vector<Address> all = ipv4_;
  all.insert(all.end(), ipv6_.begin(), ipv6_.end());
  const auto key = [](const Address& address) {
    return std::make_tuple(address.family(), address.ip(), address.scope_id());
  };
  std::sort(all.begin(), all.end(),
            [&](const Address& one, const Address& other) { return key(one) < key(other); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::unique_ptr<Naming> StartDnsNaming(const RuntimeParts& parts, EventLoop& loop, Target name,
                                       Duration interval, const DnsOptions& options,
                                       Naming::OnNodes on_nodes) {
  return std::make_unique<DnsNaming>(parts, loop, std::move(name), interval, options,
                                     std::move(on_nodes));
}

}  // namespace farcall
