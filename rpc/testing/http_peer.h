// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_HTTP_PEER_H_
#define FARCALL_RPC_TESTING_HTTP_PEER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// An HTTP client as a plain blocking socket, which sends what it likes. What it waits for, it waits
// for at most kTestTimeout. One thread.
class HttpPeer {
 public:
  struct Answer {
    int status = 0;
    std::string head;  // status line and fields, with the empty line
    std::string body;
  };

  // Connects to "1.2.3.4:port".
  explicit HttpPeer(const std::string& address);

  // Before anything was received: no more than this waits in the kernel, more or less.
  void LimitReceiveBuffer(int bytes);
  // False: the other end has closed, or takes nothing more.
  bool Send(absl::string_view bytes);
  // The next answer, which must have a Content-Length. Null: there is none before the end.
  std::optional<Answer> Receive();
  // Send and Receive. Null: there is none.
  std::optional<Answer> Ask(absl::string_view bytes);
  // Reads to the end, which it leaves out. False: it did not come in time.
  [[nodiscard]] bool WaitForEnd();
  void Close() { fd_.Reset(); }

 private:
  bool ReadSome();

  UniqueFd fd_;
  std::string input_;
  bool ended_ = false;
};

// "GET path", and "POST path" with a body, for an HttpPeer.
std::string HttpGet(absl::string_view path, absl::string_view fields = "");
std::string HttpPost(absl::string_view path, absl::string_view body, absl::string_view fields = "");

// What the program curl prints when it is given `arguments`, as a shell has them; null: it failed.
std::optional<std::string> Curl(const std::string& arguments);

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_HTTP_PEER_H_
