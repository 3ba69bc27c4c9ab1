// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/process_status.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace farcall {
namespace {

double Seconds(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The fields of proc_pid_stat(5) that are wanted here, after the name, which may hold anything but
// is followed by the last ")" of the line.
void ReadStat(ProcessStatus& status) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return;
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return;
  constexpr int kState = 3, kThreads = 20, kStart = 22;
  size_t at = name_end + 1;
  for (int field = kState; field <= kStart; ++field) {
    at = line.find_first_not_of(' ', at);
    if (at == std::string::npos) return;
    const size_t end = line.find(' ', at);
    const std::string text = line.substr(at, end - at);
    if (field == kThreads) status.threads = std::strtoull(text.c_str(), nullptr, 10);
    if (field == kStart) {
      const double ticks = std::strtod(text.c_str(), nullptr);
      const double since_boot = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
      // Looked at once: the start stays the same number, also when the wall clock is set.
      static const double boot = Seconds(CLOCK_REALTIME) - Seconds(CLOCK_BOOTTIME);
      status.start_unix_seconds = boot + since_boot;
    }
    at = end;
  }
}

// Pages: all, resident, ...; proc_pid_statm(5).
void ReadMemory(ProcessStatus& status) {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  if (!(file >> all >> resident)) return;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  status.virtual_bytes = all * page;
  status.resident_bytes = resident * page;
}

void ReadDescriptors(ProcessStatus& status) {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  while (!error && files != std::filesystem::directory_iterator()) {
    ++status.open_fds;
    files.increment(error);
  }
  // But the one that lists them.
  if (status.open_fds > 0) --status.open_fds;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) status.max_fds = limit.rlim_cur;
}

void ReadPinned(ProcessStatus& status) {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    const bool none = limit.rlim_cur == RLIM_INFINITY;
    status.memlock_bytes = none ? ProcessStatus::kUnlimited : limit.rlim_cur;
  }
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    constexpr absl::string_view kPinned = "VmPin:";
    if (!absl::StartsWith(line, kPinned)) continue;
    // "VmPin:        4 kB", proc(5).
    status.pinned_bytes = 1024 * std::strtoull(line.c_str() + kPinned.size(), nullptr, 10);
  }
}

std::string Kernel() {
  utsname name{};
  if (uname(&name) != 0) return "";
  return absl::StrCat(name.sysname, " ", name.release, " ", name.machine);
}

}  // namespace

ProcessStatus ReadProcessStatus() {
  ProcessStatus status;
  status.pid = getpid();
  status.cpu_seconds = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  ReadStat(status);
  ReadMemory(status);
  ReadDescriptors(status);
  ReadPinned(status);
  status.kernel = Kernel();
  status.taken = std::chrono::system_clock::now();
  return status;
}

}  // namespace farcall
