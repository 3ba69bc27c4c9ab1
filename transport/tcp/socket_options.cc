// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/socket_options.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"

namespace farcall {
namespace {

// Seconds and milliseconds, tcp(7). With TCP_USER_TIMEOUT the number of probes does not count.
constexpr int kIdleBeforeProbe = 30;
constexpr int kBetweenProbes = 10;
constexpr int kSilenceMs = 120'000;

absl::Status SetOption(int fd, int level, int option, int value, const char* name) {
  if (::setsockopt(fd, level, option, &value, sizeof(value)) == 0) return absl::OkStatus();
  return Annotate(ErrnoStatus(errno),
                  absl::StrCat("the socket does not take ", name, " = ", value));
}

absl::Status EndSilence(int fd) {
  absl::Status set = SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE");
  if (!set.ok()) return set;
  set = SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleBeforeProbe, "TCP_KEEPIDLE");
  if (!set.ok()) return set;
  set = SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, kBetweenProbes, "TCP_KEEPINTVL");
  if (!set.ok()) return set;
  return SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kSilenceMs, "TCP_USER_TIMEOUT");
}

absl::Status SetTrafficClass(int fd, int family, int traffic_class) {
  if (traffic_class == 0 || family == AF_UNIX) return absl::OkStatus();
  if (family == AF_INET6) {
    absl::Status set = SetOption(fd, IPPROTO_IPV6, IPV6_TCLASS, traffic_class, "IPV6_TCLASS");
    if (!set.ok()) return set;
  }
  // For IPv6 too: its peer may be IPv4.
  return SetOption(fd, IPPROTO_IP, IP_TOS, traffic_class, "IP_TOS");
}

}  // namespace

absl::StatusOr<UniqueFd> OpenStreamSocket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return ErrnoStatus(errno);
  return fd;
}

absl::Status ConfigureConnection(int fd, int family, int traffic_class) {
  if (family == AF_UNIX) return absl::OkStatus();
  absl::Status set = SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  if (!set.ok()) return set;
  set = EndSilence(fd);
  if (!set.ok()) return set;
  return SetTrafficClass(fd, family, traffic_class);
}

absl::Status ConfigureListener(int fd, int family, int traffic_class) {
  if (family == AF_UNIX) return absl::OkStatus();
  absl::Status set = SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  if (!set.ok()) return set;
  if (family == AF_INET6) {
    set = SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0, "IPV6_V6ONLY");
    if (!set.ok()) return set;
  }
  return SetTrafficClass(fd, family, traffic_class);
}

}  // namespace farcall
