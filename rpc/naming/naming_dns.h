// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAMING_DNS_H_
#define FARCALL_RPC_NAMING_NAMING_DNS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "rpc/naming/naming.h"
#include "rpc/naming/resolve_dns.h"
#include "rpc/naming/target.h"

namespace farcall {

// The addresses of a name over several look-ups. Pure.
class DnsKnown {
 public:
  // Takes in the result of a look-up. A family without an answer keeps its addresses. So do both
  // where none would be left, which is an error.
  absl::Status Update(const DnsAnswer& answer);
  // Sorted, each once.
  std::vector<Address> addresses() const;

 private:
  std::vector<Address> ipv4_;
  std::vector<Address> ipv6_;
};

// "dns://name:port": `name` is that, without an address. Looked up when the answer's TTL or the
// interval is over, whichever is sooner, but not within a second; and by Refresh.
std::unique_ptr<Naming> StartDnsNaming(const RuntimeParts& parts, EventLoop& loop, Target name,
                                       Duration interval, const DnsOptions& options,
                                       Naming::OnNodes on_nodes);

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_DNS_H_
