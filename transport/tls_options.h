// SPDX-License-Identifier: Apache-2.0
//
// Options of TLS on TCP connections. TLS 1.2 and 1.3, by OpenSSL.

#ifndef FARCALL_TRANSPORT_TLS_OPTIONS_H_
#define FARCALL_TRANSPORT_TLS_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "transport/base/time.h"

namespace farcall {

// Files in PEM. Looked at again when connections are made, at most once in `reload_interval`: a
// new pair of certificate and key, or new CAs, then hold for new connections; files that do not
// load are logged, and the old ones stay.
struct TlsFiles {
  std::string certificate;  // the chain, own certificate first; empty: none is shown
  std::string private_key;
  std::string ca;  // who signs the peers; empty: the system's store
  Duration reload_interval = std::chrono::seconds(10);
};

struct ClientTlsOptions {
  TlsFiles files;
  // Whether the server's certificate is checked: its chain, and its name.
  bool verify = true;
  // The name that the certificate must bear, sent as SNI; empty: that of the target (its address
  // where it has no name).
  std::string server_name;
  // ALPN; what a farcall server takes is "baidu_std".
  std::vector<std::string> alpn = {"baidu_std"};

  absl::Status Validate() const;
};

struct ServerTlsOptions {
  TlsFiles files;  // certificate and private_key are needed
  // Mutual TLS: clients must show a certificate that files.ca signed.
  bool require_client_certificate = false;
  // ALPN, best first; a client that offers others only is refused, one that offers none is not.
  std::vector<std::string> alpn = {"baidu_std", "http/1.1"};
  // From accept to the end of the handshake. > 0.
  Duration handshake_timeout = std::chrono::seconds(10);

  absl::Status Validate() const;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_OPTIONS_H_
