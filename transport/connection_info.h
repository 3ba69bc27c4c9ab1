// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_CONNECTION_INFO_H_
#define FARCALL_TRANSPORT_CONNECTION_INFO_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/address.h"

namespace farcall {

enum class TransportKind : uint8_t { kTcp, kRdma, kSimulated };
absl::string_view ToString(TransportKind kind);  // "tcp", "rdma", "simulated"

// Why a connection does not use RDMA.
enum class WhyNotRdma : uint8_t {
  kInUse,     // it does
  kNotAsked,  // use_rdma is off at this end
  kNotBuiltIn,
};
// One line for people: the reason, and the cure where there is one.
absl::string_view Explain(WhyNotRdma why);

struct ConnectionInfo {
  Address local;
  Address peer;  // kNone for the client of a unix socket
  TransportKind transport = TransportKind::kTcp;
  WhyNotRdma why_not_rdma = WhyNotRdma::kNotAsked;
  std::string device;  // RDMA device, "" for sockets
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;  // handed to the kernel or the device
  uint64_t reads = 0;          // system calls or completions
  uint64_t writes = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CONNECTION_INFO_H_
