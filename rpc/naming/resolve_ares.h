// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_RESOLVE_ARES_H_
#define FARCALL_RPC_NAMING_RESOLVE_ARES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/base/time.h"
#include "transport/loop/event_loop.h"

struct ares_channeldata;

namespace farcall {

// Where names are asked for.
struct DnsOptions {
  std::string resolv_conf;  // resolv.conf(5); empty: the system's
  uint16_t port = 53;       // of its name servers
};

// Addresses of one family, as a name server tells them.
struct DnsRecords {
  std::vector<Address> addresses;  // empty: the name has none
  Duration ttl = Duration::max();  // of the shortest lived
};

// c-ares, with its sockets and timeouts on an event loop: queries to name servers that
// block no thread.
class AresOnLoop {
 public:
  // An error is one that may pass: no server answers, or it fails. A name that does not
  // exist is no error, but without addresses.
  using OnRecords = absl::AnyInvocable<void(absl::StatusOr<DnsRecords>)>;

  // Reads the configuration, which blocks for as long as a file does. Any thread.
  static absl::StatusOr<std::unique_ptr<AresOnLoop>> Create(const DnsOptions& options);
  AresOnLoop(const AresOnLoop&) = delete;
  AresOnLoop& operator=(const AresOnLoop&) = delete;
  // With the loop held, once Attach was called; not from inside OnRecords. What waits is dropped.
  ~AresOnLoop();

  // The addresses that hosts(5) has for the name. Blocks as Create does; before Attach.
  std::vector<Address> InHostsFile(const std::string& host, uint16_t port) const;
  // The names to ask for one after the other, by `search` and `ndots` of resolv.conf(5).
  std::vector<std::string> Candidates(const std::string& host) const;

  // --- With the loop held, which it is on from Attach on.

  void Attach(EventLoop& loop);
  // A or AAAA (`family` is kIpv4 or kIpv6) of a whole name. `on_records` runs once, perhaps
  // from inside Ask, unless this dies before.
  void Ask(const std::string& name, AddressFamily family, uint16_t port, OnRecords on_records);

 private:
  struct Question;
  struct Socket;

  AresOnLoop() = default;
  static void OnSocketState(void* self, int fd, int readable, int writable);
  static void OnAnswer(void* question, int status, int timeouts, unsigned char* bytes, int size);
  void Watch(int fd, uint32_t events);
  void Process(int readable, int writable);
  void SetTimer();

  ares_channeldata* channel_ = nullptr;
  std::vector<std::string> domains_;
  int ndots_ = 1;
  EventLoop* loop_ = nullptr;  // null: not attached
  bool ending_ = false;
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::optional<Timer> timer_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_RESOLVE_ARES_H_
