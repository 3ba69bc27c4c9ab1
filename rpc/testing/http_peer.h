// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_HTTP_PEER_H_
#define FARCALL_RPC_TESTING_HTTP_PEER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/testing/raw_peer.h"

namespace farcall {

// An HTTP client, which sends what it likes. One thread.
class HttpPeer : public RawPeer {
 public:
  struct Answer {
    int status = 0;
    std::string head;  // status line and fields, with the empty line
    std::string body;
  };

  using RawPeer::RawPeer;

  // The next answer, which must have a Content-Length. Null: there is none before the end.
  std::optional<Answer> Receive();
  // Send and Receive. Null: there is none.
  std::optional<Answer> Ask(absl::string_view bytes);
};

// "GET path", and "POST path" with a body, for an HttpPeer.
std::string HttpGet(absl::string_view path, absl::string_view fields = "");
std::string HttpPost(absl::string_view path, absl::string_view body, absl::string_view fields = "");

// What the program curl prints when it is given `arguments`, as a shell has them; null: it failed.
std::optional<std::string> Curl(const std::string& arguments);

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_HTTP_PEER_H_
