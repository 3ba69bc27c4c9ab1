// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_READS_USE_H_
#define FARCALL_TRANSPORT_READS_USE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace farcall {

// RdmaOptions::read_at_least: nothing is referred to; or from kReadAutoFrom bytes on, on each
// connection where that is found to pay.
inline constexpr uint32_t kReadNever = 0;
inline constexpr uint32_t kReadAuto = 1;
inline constexpr uint32_t kReadAutoFrom = 64 << 10;

// Why the peer does, or does not, fetch the large pieces of registered memory that this end has for
// it by RDMA READ (RdmaOptions::read_at_least). Of a device only the first ones.
enum class ReadsWhy : uint8_t {
  kNever,           // read_at_least is 0
  kNoWindows,       // the device has no memory windows of type 2 to open memory with
  kWindowsFail,     // it did not do with them what it said it can
  kAlways,          // read_at_least is a number
  kMeasuring,       // "auto", and not known yet: they are sent, but for what is measured
  kNoRoom,          // the queue pair has no room for windows, or the device no windows left
  kPeerDoesNot,     // the peer takes no references
  kSendsAreFaster,  // measured
  kReadsPay,        // measured: they are not slower, and nothing that they bring is copied
};

// As status and settings write it: "never", "no_windows" ...
absl::string_view Name(ReadsWhy why);

struct ReadsUse {
  ReadsWhy why = ReadsWhy::kNever;
  // Measured last on this connection, bytes a second; 0: not yet.
  uint64_t send_rate = 0;
  uint64_t read_rate = 0;

  bool operator==(const ReadsUse&) const = default;
};

// For people: "no: sends carry 19.0 GB/s, RDMA READ 2.7 GB/s".
std::string Explain(const ReadsUse& use);

// What holds for all connections of a device, before any of them knows more: `at_least` is the
// option, `windows` whether it has memory windows, `fail` whether they failed.
ReadsWhy ReadsOfDevice(uint32_t at_least, bool windows, bool fail);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_READS_USE_H_
