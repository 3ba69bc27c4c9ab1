// SPDX-License-Identifier: Apache-2.0
//
// A name server on loopback that the test drives; and a resolv.conf(5) that leads to it. One
// thread.

#ifndef FARCALL_RPC_NAMING_RESOLVE_TESTING_H_
#define FARCALL_RPC_NAMING_RESOLVE_TESTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/naming/naming_testing.h"
#include "rpc/naming/resolve_ares.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// What it answers for a name and type.
struct TestRecords {
  std::vector<std::string> ips;  // of the type
  uint32_t ttl = 60;             // seconds
  int rcode = 0;                 // RFC 1035, section 4.1.1: 2 server failure, 3 no such name
  std::string alias;             // CNAME: what bears the ips
  bool silent = false;           // no answer
  bool only_tcp = false;         // over UDP it is truncated
  std::string bytes;             // not empty: all of the answer after the id
};

class TestNameServer {
 public:
  enum Type : uint16_t { kA = 1, kAaaa = 28 };

  // With `conf` after the line of the name server in resolv.conf.
  explicit TestNameServer(absl::string_view conf = "");

  DnsOptions options() const { return {files_.Path("resolv.conf"), port_}; }
  // What is not set does not exist (rcode 3); names in lower case, without a dot at the end.
  TestRecords& at(const std::string& name, Type type) { return records_[{name, type}]; }
  // A and AAAA: the name exists, perhaps without the one.
  void Set(const std::string& name, const std::vector<std::string>& ipv4,
           const std::vector<std::string>& ipv6 = {}, uint32_t ttl = 60);
  void Remove(const std::string& name);

  // Answers what is there. False: nothing was there.
  bool Serve();
  // "name/A" and "name/AAAA" in the order of asking, since the last time.
  std::vector<std::string> TakeAsked() { return std::exchange(asked_, {}); }

 private:
  std::string Answer(absl::string_view query, bool tcp);
  bool ServeUdp();
  bool ServeTcp();

  TestDirectory files_;
  uint16_t port_ = 0;
  UniqueFd udp_;
  UniqueFd tcp_;
  std::vector<UniqueFd> connections_;
  std::map<std::pair<std::string, uint16_t>, TestRecords> records_;
  std::vector<std::string> asked_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_RESOLVE_TESTING_H_
