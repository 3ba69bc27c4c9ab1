// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/name_cache.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"

namespace farcall {
namespace {

// Names are looked up without a port.
std::vector<Address> WithPort(std::vector<Address> addresses, uint16_t port) {
  for (Address& address : addresses) {
    if (address.family() == AddressFamily::kIpv6) {
      address = Address::Ipv6(address.ip(), port, address.scope_id());
    } else {
      std::array<uint8_t, 4> ip;
      std::copy_n(address.ip().begin(), ip.size(), ip.begin());
      address = Address::Ipv4(ip, port);
    }
  }
  return addresses;
}

absl::Status TooMany(const std::string& host) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot resolve ", host, ": too many names wait to be resolved already"));
}

}  // namespace

void NameCache::Resolve(const std::string& host, uint16_t port, OnAddresses done) {
  std::optional<Addresses> known;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Name& name = names_[host];
    if (name.known_until > clock_.Now()) {
      known = WithPort(name.known, port);
    } else if (waiting_ == kMaxWaiting) {
      known = TooMany(host);
      if (!name.asked) names_.erase(host);
    } else {
      ++waiting_;
      name.waiting.push_back({port, std::move(done)});
      if (!std::exchange(name.asked, true)) queue_.push_back(host);
    }
  }
  if (known) return done(*std::move(known));
  StartLookups();
}

void NameCache::Forget(const std::string& host) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto name = names_.find(host);
  if (name == names_.end()) return;
  name->second.known_until = TimePoint();
  if (!name->second.asked) names_.erase(name);
}

void NameCache::StartLookups() {
  for (;;) {
    std::string host;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (queue_.empty() || running_ == kAtOnce) return;
      ++running_;
      host = std::move(queue_.front());
      queue_.pop_front();
    }
    const bool accepted = run_blocking_([self = shared_from_this(), host] {
      self->OnAnswer(host, self->lookup_(host, 0));
      self->StartLookups();
    });
    if (!accepted) OnAnswer(host, TooMany(host));
  }
}

void NameCache::OnAnswer(const std::string& host, const Addresses& answer) {
  std::vector<Waiting> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    const auto found = names_.find(host);
    Name& name = found->second;
    waiting.swap(name.waiting);
    waiting_ -= waiting.size();
    name.asked = false;
    const TimePoint now = clock_.Now();
    name.known_until = answer.ok() ? now + kKept : TimePoint();
    if (answer.ok()) name.known = *answer;
    const auto is_old = [&](const auto& one) {
      return !one.second.asked && one.second.known_until <= now;
    };
    if (names_.size() > kMaxKept) {
      absl::erase_if(names_, is_old);
      if (names_.size() > kMaxKept) names_.erase(host);
    } else if (!answer.ok()) {
      names_.erase(found);
    }
  }
  for (Waiting& one : waiting) {
    one.done(answer.ok() ? Addresses(WithPort(*answer, one.port))
                         : Addresses(Detached(answer.status())));
  }
}

}  // namespace farcall
