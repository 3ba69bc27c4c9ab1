// SPDX-License-Identifier: Apache-2.0
//
// What the cases of farcall_client share: one call, and what was expected of it.

#ifndef FARCALL_TOOLS_INTEROP_CLIENT_H_
#define FARCALL_TOOLS_INTEROP_CLIENT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/runtime/channel.h"
#include "tools/interop/interop.pb.h"

namespace farcall::interop {

// Ends a case: what was expected and did not happen.
struct Failure {
  std::string why;
};
void Expect(bool holds, absl::string_view why);

// Bytes that follow from their place and `seed`: a shifted or repeated piece is seen.
std::string Pattern(size_t size, int seed);
// Text of `size` bytes that compresses, as valid UTF-8.
std::string Text(size_t size);

// Options for the peer's habits: no attempt beyond the first, so that a case counts its calls.
ChannelOptions CaseOptions();

// One call and what it needs.
struct Call {
  Controller controller;
  Request request;
  Response response;

  // "ENOSERVICE (1001): text", for a Failure.
  std::string Outcome() const;
};

// Any thread.
class Client {
 public:
  explicit Client(const std::string& address, const ChannelOptions& options = CaseOptions());

  // Sends `call` to EchoService.Echo and returns when it has ended.
  void Echo(Call& call) const;
  // Sends `message` and `attachment`, set up by `change`, and expects both back.
  void ExpectEcho(absl::string_view message, absl::string_view attachment = "",
                  const std::function<void(Controller&)>& change = nullptr) const;
  // Echo fails by its deadline of 400 ms, and the connection is usable afterwards.
  void ExpectTimeout(Call& call) const;

  google::protobuf::RpcChannel* channel() const { return channel_.get(); }

 private:
  std::unique_ptr<Channel> channel_;
};

// Calls until `done` of the last outcome holds; at most 40 s.
void Until(const Client& client, absl::string_view what,
           const std::function<bool(const Call&)>& done);

}  // namespace farcall::interop

#endif  // FARCALL_TOOLS_INTEROP_CLIENT_H_
