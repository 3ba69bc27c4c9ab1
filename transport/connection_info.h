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
  // "TLSv1.3 TLS_AES_256_GCM_SHA384", "handshake" before that is known, "" without TLS. Of the TCP
  // connection: what RDMA carries beside it is not encrypted.
  std::string tls;
  // The subject of the peer's certificate, "/O=Example/CN=client"; "" if it showed none. It is
  // verified where this end verifies (ClientTlsOptions::verify, require_client_certificate).
  std::string tls_peer;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;  // handed to the kernel or the device
  uint64_t reads = 0;          // system calls or completions
  uint64_t writes = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CONNECTION_INFO_H_
