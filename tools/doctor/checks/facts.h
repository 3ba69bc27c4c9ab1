// SPDX-License-Identifier: Apache-2.0
//
// What the checks are given: plain values of one moment, read by tools/doctor/look, or written
// down by a test. What could not be read is nullopt or empty, never a guess.

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_FACTS_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/dcb/dcb_facts.h"
#include "tools/doctor/dcb/queue_counters.h"

namespace farcall::doctor {

struct LibraryFacts {
  std::string error;  // why libibverbs or librdmacm cannot be loaded; "": they are
  // Names of files in the directory of libibverbs's providers: "libmlx5-rdmav34.so".
  std::vector<std::string> providers;
};

// A character device, as open(2) for reading and writing finds it: what librdmacm and
// libibverbs do with it.
struct FileFact {
  std::string path;
  int error = 0;      // errno; 0: it opens
  std::string owner;  // "0600 root root"; "" where it cannot be read
};

struct DeviceFileFacts {
  bool directory = false;  // /dev/infiniband is there
  std::vector<FileFact> uverbs;
  std::map<std::string, std::string> uverbs_of;  // device -> "uverbs0", as sysfs tells
  FileFact rdma_cm;
  // /sys/class/misc/rdma_cm: the kernel has rdma_ucm, whether or not its file is shown here.
  bool rdma_ucm = false;
  std::string channel_error;  // of rdma_create_event_channel(3); "": it works
  bool channel_tried = false;
};

// A device as libibverbs opens it.
struct VerbsDevice {
  std::string name;
  std::string error;  // why it does not open; "": it does
  int max_srq = 0;
  int max_qp = 0;
  int max_cqe = 0;
  bool windows = false;                  // memory windows of type 2
  std::optional<uint32_t> max_inline;    // that a queue pair got, of what farcall asks for
  std::optional<bool> relaxed_ordering;  // PCI Express' Device Control has it enabled
  std::map<uint32_t, uint32_t> mtu;      // active, bytes; by port
};

struct MemoryFacts {
  static constexpr uint64_t kNoLimit = UINT64_MAX;
  std::optional<uint64_t> soft_limit;  // RLIMIT_MEMLOCK, bytes
  std::optional<uint64_t> hard_limit;
  bool may_lock = false;              // CAP_IPC_LOCK is effective
  bool first_user_namespace = false;  // only there that capability counts for the kernel
};

// What the library pins with its default options, for each device in use. Receives are set aside
// for a device and an event loop when their first connection comes.
struct MemoryNeed {
  uint64_t first = 0;  // with the first connection of all
  uint64_t least = 0;  // when each event loop has had one
  uint64_t most = 0;   // when the pool has grown to its limit
};

struct HugePageFacts {
  std::string transparent;               // "always", "madvise", "never"; "": not readable
  std::optional<uint64_t> cgroup_bytes;  // hugetlb.2MB.max; nullopt: no limit, or not readable
};

enum class ForkSafety : uint8_t { kUnknown, kDisabled, kEnabled, kUnneeded };

// An IP address of this network namespace at which peers may reach it.
struct OwnAddress {
  std::string ip;
  std::string interface;
};

// The operator's settings (docs/settings.md), by the library's own rules.
struct SettingsFacts {
  std::optional<uint32_t> traffic_class;  // nullopt: not set
  std::string error;                      // why the library does not take them; "": it does
  std::vector<int> cpus{};                // of the loops, in turns; empty: not set
  bool near_adapters = true;
  std::string network_status{};        // the file with a pod's networks; "": not set
  std::vector<std::string> devices{};  // only these are used; empty: all
};

// What the kernel tells of the queues of network interfaces, by their names.
struct Queues {
  std::map<std::string, Dcb> dcb;
  std::map<std::string, QueueCounters> moved;  // between two looks
  std::string when;                            // "in 1 s"
};

// Why not RDMA, in the words of the library itself.
struct LibraryVerdict {
  // No code of transport/why_not_rdma.h: the library gave no reason, it does not even start.
  static constexpr const char* kNotTold = "not_told";
  std::string reason;  // a code of transport/why_not_rdma.h; "in_use": it may be used; kNotTold
  std::string detail;
};

// A call over RDMA, from this process to itself over one device.
struct LoopbackFacts {
  std::string device;
  bool tried = true;
  bool answered = false;  // the call, by whatever transport
  std::string reason;     // why not RDMA; "in_use": it was
  std::string detail;
  double ping_us = 0;  // median
  std::string over{};  // the device that carried it; "": none
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_FACTS_H_
