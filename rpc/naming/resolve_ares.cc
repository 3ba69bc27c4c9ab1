// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/resolve_ares.h"

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// One try with one name server; it doubles from round to round.
constexpr std::chrono::milliseconds kTryTimeout{1000};
constexpr int kTries = 3;
// Classes and types of RFC 1035, section 3.2, and RFC 3596.
constexpr int kClassIn = 1;
constexpr int kTypeA = 1;
constexpr int kTypeAaaa = 28;
// More do not fit into the 64 KiB of an answer: the shortest record has 16 bytes.
constexpr int kMaxRecords = 4096;

// On this system it does nothing that must be undone; it must not run in two threads at once.
int InitLibrary() {
  static const int status = ::ares_library_init(ARES_LIB_INIT_ALL);
  return status;
}

template <typename Ip>
auto Bytes(const Ip& ip) {
  std::array<uint8_t, sizeof(Ip)> bytes;
  std::memcpy(bytes.data(), &ip, sizeof(Ip));
  return bytes;
}

Address MakeAddress(const in_addr& ip, uint16_t port) { return Address::Ipv4(Bytes(ip), port); }
Address MakeAddress(const ares_in6_addr& ip, uint16_t port) {
  return Address::Ipv6(Bytes(ip), port);
}

template <typename Record, typename Parse, typename Ip>
absl::StatusOr<DnsRecords> ParseRecords(const unsigned char* bytes, int size, uint16_t port,
                                        Parse parse, Ip ip) {
  std::vector<Record> found(kMaxRecords);
  int count = kMaxRecords;
  const int status = parse(bytes, size, nullptr, found.data(), &count);
  DnsRecords records;
  // Records of other types alone: an alias that leads to nothing.
  if (status == ARES_ENODATA) return records;
  if (status != ARES_SUCCESS) {
    return absl::UnavailableError(
        absl::StrCat("a name server's answer is not understood: ", ::ares_strerror(status)));
  }
  for (int i = 0; i < count; ++i) {
    records.addresses.push_back(MakeAddress(found[i].*ip, port));
    const std::chrono::seconds ttl(std::max(0, found[i].ttl));
    records.ttl = std::min<Duration>(records.ttl, ttl);
  }
  return records;
}

void AppendFromHostent(const hostent& host, uint16_t port, std::vector<Address>& addresses) {
  for (char** ip = host.h_addr_list; *ip != nullptr; ++ip) {
    if (host.h_addrtype == AF_INET) {
      in_addr ipv4;
      std::memcpy(&ipv4, *ip, sizeof(ipv4));
      addresses.push_back(MakeAddress(ipv4, port));
    } else {
      ares_in6_addr ipv6;
      std::memcpy(&ipv6, *ip, sizeof(ipv6));
      addresses.push_back(MakeAddress(ipv6, port));
    }
  }
}

}  // namespace

struct AresOnLoop::Question {
  AresOnLoop& owner;
  AddressFamily family;
  uint16_t port;
  OnRecords on_records;
};

// A socket of c-ares while it waits for something.
struct AresOnLoop::Socket final : FdHandler {
  Socket(AresOnLoop& of, int socket) : owner(of), fd(socket) {}
  // This may be gone when Process returns.
  void OnReady(uint32_t events) override {
    const bool readable = (events & ~uint32_t{EPOLLOUT}) != 0;
    const bool writable = (events & ~uint32_t{EPOLLIN}) != 0;
    owner.Process(readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
  }

  AresOnLoop& owner;
  const int fd;
  EpollSource::Watch watch;
};

absl::StatusOr<std::unique_ptr<AresOnLoop>> AresOnLoop::Create(const DnsOptions& options) {
  std::unique_ptr<AresOnLoop> made(new AresOnLoop);
  ares_options wanted{};
  std::string lookups = "b";
  std::string resolv_conf = options.resolv_conf;
  wanted.timeout = static_cast<int>(kTryTimeout.count());
  wanted.tries = kTries;
  wanted.lookups = lookups.data();
  wanted.udp_port = wanted.tcp_port = options.port;
  wanted.sock_state_cb = &AresOnLoop::OnSocketState;
  wanted.sock_state_cb_data = made.get();
  wanted.resolvconf_path = resolv_conf.data();
  int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_UDP_PORT |
             ARES_OPT_TCP_PORT | ARES_OPT_SOCK_STATE_CB;
  if (!resolv_conf.empty()) mask |= ARES_OPT_RESOLVCONF;
  int status = InitLibrary();
  if (status == ARES_SUCCESS) status = ::ares_init_options(&made->channel_, &wanted, mask);
  ares_options got{};
  if (status == ARES_SUCCESS) status = ::ares_save_options(made->channel_, &got, &mask);
  if (status != ARES_SUCCESS) {
    return absl::UnavailableError(
        absl::StrCat("the resolver does not start: ", ::ares_strerror(status)));
  }
  made->domains_.assign(got.domains, got.domains + got.ndomains);
  made->ndots_ = got.ndots;
  ::ares_destroy_options(&got);
  return made;
}

AresOnLoop::~AresOnLoop() {
  ending_ = true;
  if (timer_) loop_->CancelTimer(*timer_);
  // Ends the questions and closes the sockets, and tells so.
  if (channel_ != nullptr) ::ares_destroy(channel_);
}

std::vector<Address> AresOnLoop::InHostsFile(const std::string& host, uint16_t port) const {
  std::vector<Address> addresses;
  for (const int family : {AF_INET, AF_INET6}) {
    hostent* found = nullptr;
    const int status = ::ares_gethostbyname_file(channel_, host.c_str(), family, &found);
    if (status == ARES_SUCCESS) AppendFromHostent(*found, port, addresses);
    if (found != nullptr) ::ares_free_hostent(found);
  }
  return addresses;
}

std::vector<std::string> AresOnLoop::Candidates(const std::string& host) const {
  if (absl::EndsWith(host, ".")) return {host};
  std::vector<std::string> names;
  for (const std::string& domain : domains_) names.push_back(absl::StrCat(host, ".", domain));
  const bool whole = std::count(host.begin(), host.end(), '.') >= ndots_;
  names.insert(whole ? names.begin() : names.end(), host);
  return names;
}

void AresOnLoop::Attach(EventLoop& loop) {
  loop_ = &loop;
  timer_.emplace([this] { Process(ARES_SOCKET_BAD, ARES_SOCKET_BAD); });
}

void AresOnLoop::Ask(const std::string& name, AddressFamily family, uint16_t port,
                     OnRecords on_records) {
  Check(loop_ != nullptr, "questions are asked on a loop");
  auto* question = new Question{*this, family, port, std::move(on_records)};
  ::ares_query(channel_, name.c_str(), kClassIn,
               family == AddressFamily::kIpv6 ? kTypeAaaa : kTypeA, &AresOnLoop::OnAnswer,
               question);
  SetTimer();
}

void AresOnLoop::OnAnswer(void* question, int status, int, unsigned char* bytes, int size) {
  const std::unique_ptr<Question> asked(static_cast<Question*>(question));
  if (asked->owner.ending_) return;
  switch (status) {
    case ARES_SUCCESS:
      return asked->on_records(
          asked->family == AddressFamily::kIpv6
              ? ParseRecords<ares_addr6ttl>(bytes, size, asked->port, &::ares_parse_aaaa_reply,
                                            &ares_addr6ttl::ip6addr)
              : ParseRecords<ares_addrttl>(bytes, size, asked->port, &::ares_parse_a_reply,
                                           &ares_addrttl::ipaddr));
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
      return asked->on_records(DnsRecords());
    case ARES_EBADNAME:
      return asked->on_records(absl::InvalidArgumentError("it is no name for DNS"));
    default:
      return asked->on_records(absl::UnavailableError(
          absl::StrCat("no name server tells it: ", ::ares_strerror(status))));
  }
}

void AresOnLoop::OnSocketState(void* self, int fd, int readable, int writable) {
  const uint32_t events =
      (readable != 0 ? uint32_t{EPOLLIN} : 0) | (writable != 0 ? uint32_t{EPOLLOUT} : 0);
  static_cast<AresOnLoop*>(self)->Watch(fd, events);
}

// A socket that cannot be watched is one whose question times out.
void AresOnLoop::Watch(int fd, uint32_t events) {
  const auto old = std::find_if(sockets_.begin(), sockets_.end(),
                                [fd](const auto& socket) { return socket->fd == fd; });
  if (old != sockets_.end()) {
    loop_->fds().Remove((*old)->watch, fd);
    sockets_.erase(old);
  }
  if (events == 0) return;
  auto socket = std::make_unique<Socket>(*this, fd);
  const absl::StatusOr<EpollSource::Watch> watch = loop_->fds().Add(fd, events, *socket);
  if (!watch.ok()) return;
  socket->watch = *watch;
  sockets_.push_back(std::move(socket));
}

void AresOnLoop::Process(int readable, int writable) {
  ::ares_process_fd(channel_, readable, writable);
  SetTimer();
}

void AresOnLoop::SetTimer() {
  timeval left{};
  if (::ares_timeout(channel_, nullptr, &left) == nullptr) return loop_->CancelTimer(*timer_);
  loop_->SetTimer(*timer_, loop_->now() + std::chrono::seconds(left.tv_sec) +
                               std::chrono::microseconds(left.tv_usec));
}

}  // namespace farcall
