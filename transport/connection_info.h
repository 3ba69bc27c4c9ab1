// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_CONNECTION_INFO_H_
#define FARCALL_TRANSPORT_CONNECTION_INFO_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/why_not_rdma.h"

namespace farcall {

enum class TransportKind : uint8_t { kTcp, kRdma, kSimulated };
absl::string_view ToString(TransportKind kind);  // "tcp", "rdma", "simulated"

struct ConnectionInfo {
  Address local;
  Address peer;  // kNone for the client of a unix socket
  TransportKind transport = TransportKind::kTcp;
  WhyNotRdma why_not_rdma = WhyNotRdma::kNotAsked;
  // What Explain(why_not_rdma) does not know: names and numbers of this case. May be empty.
  std::string why_detail;
  std::string device;  // RDMA device, "" for sockets
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;  // handed to the kernel or the device
  uint64_t reads = 0;          // system calls or completions
  uint64_t writes = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CONNECTION_INFO_H_
