// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/look/queues.h"

#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tools/doctor/dcb/dcb_message.h"
#include "transport/base/unique_fd.h"

namespace farcall::doctor {
namespace {

constexpr uint32_t kSequence = 1;  // each question has a socket of its own
constexpr size_t kMaxAnswer = 64 << 10;
constexpr timeval kTimeout{5, 0};
constexpr uint32_t kMaxStatistics = 65536;  // of an adapter with queues for hundreds of cores

std::string ErrorText(const char* what, int number) {
  return absl::StrCat(what, ": ", std::strerror(number));
}

bool IsName(const std::string& interface) {
  return !interface.empty() && interface.size() < IFNAMSIZ;
}

Dcb NoDcb(std::string why) {
  Dcb dcb;
  dcb.error = std::move(why);
  return dcb;
}

QueueCounters NoCounters(std::string why) {
  QueueCounters counters;
  counters.error = std::move(why);
  return counters;
}

// 0, or errno. `command` begins with the number of what ethtool shall do.
int Ethtool(int fd, const std::string& interface, void* command) {
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = static_cast<char*>(command);
  return ioctl(fd, SIOCETHTOOL, &request) == 0 ? 0 : errno;
}

// What follows a struct of ethtool's, in memory that is aligned for it.
template <typename Head>
struct Reply {
  explicit Reply(size_t more) : memory((sizeof(Head) + more + 7) / 8) {}
  Head& head() { return *reinterpret_cast<Head*>(memory.data()); }
  const char* rest() const { return reinterpret_cast<const char*>(memory.data()) + sizeof(Head); }
  std::vector<uint64_t> memory;
};

// How many counters the driver has; 0 with the error in `number`.
uint32_t Count(int fd, const std::string& interface, int& number) {
  Reply<ethtool_sset_info> info(sizeof(uint32_t));
  info.head().cmd = ETHTOOL_GSSET_INFO;
  info.head().sset_mask = uint64_t{1} << ETH_SS_STATS;
  number = Ethtool(fd, interface, info.memory.data());
  if (number != 0 || info.head().sset_mask == 0) return 0;
  uint32_t count = 0;
  std::memcpy(&count, info.rest(), sizeof(count));
  return count;
}

QueueCounters ReadStatistics(int fd, const std::string& interface) {
  int number = 0;
  const uint32_t count = Count(fd, interface, number);
  if (count == 0 || count > kMaxStatistics) {
    return NoCounters(number == 0 ? absl::StrCat("its driver has ", count, " counters")
                                  : ErrorText("its driver does not tell its counters", number));
  }
  Reply<ethtool_gstrings> names(size_t{count} * ETH_GSTRING_LEN);
  names.head().cmd = ETHTOOL_GSTRINGS;
  names.head().string_set = ETH_SS_STATS;
  names.head().len = count;
  Reply<ethtool_stats> values(size_t{count} * sizeof(uint64_t));
  values.head().cmd = ETHTOOL_GSTATS;
  values.head().n_stats = count;
  number = Ethtool(fd, interface, names.memory.data());
  if (number == 0) number = Ethtool(fd, interface, values.memory.data());
  if (number != 0) return NoCounters(ErrorText("its driver does not tell its counters", number));
  // Queues were added or taken away meanwhile.
  if (names.head().len != count || values.head().n_stats != count) {
    return NoCounters("its driver's counters changed while they were read");
  }
  QueueCounters counters;
  for (uint32_t i = 0; i < count; ++i) {
    const char* const name = names.rest() + size_t{i} * ETH_GSTRING_LEN;
    uint64_t value = 0;
    std::memcpy(&value, values.rest() + size_t{i} * sizeof(value), sizeof(value));
    AddStatistic(absl::string_view(name, strnlen(name, ETH_GSTRING_LEN)), value, counters);
  }
  return counters;
}

}  // namespace

Dcb ReadDcb(const std::string& interface) {
  if (!IsName(interface)) return NoDcb("no name of an interface");
  const UniqueFd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.valid()) return NoDcb(ErrorText("rtnetlink", errno));
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof(kTimeout));
  const std::string question = DcbQuestion(interface, kSequence);
  if (send(fd.get(), question.data(), question.size(), 0) < 0) {
    return NoDcb(ErrorText("rtnetlink", errno));
  }
  std::string bytes(kMaxAnswer, '\0');
  const ssize_t got = recv(fd.get(), bytes.data(), bytes.size(), MSG_TRUNC);
  if (got < 0) return NoDcb(ErrorText("rtnetlink", errno));
  if (static_cast<size_t>(got) > bytes.size())
    return NoDcb("rtnetlink: an answer that is too long");
  bytes.resize(static_cast<size_t>(got));
  absl::StatusOr<Dcb> dcb = ParseDcbAnswer(bytes, kSequence);
  if (!dcb.ok()) return NoDcb(std::string(dcb.status().message()));
  return *std::move(dcb);
}

QueueCounters ReadQueueCounters(const std::string& interface, const Dcb& dcb) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  QueueCounters counters = !IsName(interface) ? NoCounters("no name of an interface")
                           : !fd.valid()      ? NoCounters(ErrorText("socket", errno))
                                              : ReadStatistics(fd.get(), interface);
  AddPauses(dcb, counters);
  return counters;
}

std::map<std::string, Dcb> ReadDcbs(const std::vector<std::string>& interfaces) {
  std::map<std::string, Dcb> all;
  for (const std::string& each : interfaces) all[each] = ReadDcb(each);
  return all;
}

std::map<std::string, QueueCounters> ReadCounters(const std::vector<std::string>& interfaces) {
  std::map<std::string, QueueCounters> all;
  for (const std::string& each : interfaces) all[each] = ReadQueueCounters(each, ReadDcb(each));
  return all;
}

std::map<std::string, QueueCounters> MovedOf(const std::map<std::string, QueueCounters>& before,
                                             const std::map<std::string, QueueCounters>& after) {
  std::map<std::string, QueueCounters> moved;
  for (const auto& [name, now] : after) {
    const auto was = before.find(name);
    if (was != before.end()) moved[name] = Moved(was->second, now);
  }
  return moved;
}

}  // namespace farcall::doctor
