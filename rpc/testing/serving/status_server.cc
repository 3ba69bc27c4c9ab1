// SPDX-License-Identifier: Apache-2.0
//
// A server with calls of its own, some of which fail, and with clients whose names are meant to
// hurt a page that shows them. Prints its address when there is something to be seen; ends with
// its standard input.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "rpc/authenticator.h"
#include "rpc/errors.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// Who ran it, if a browser did, can be seen in the page.
constexpr char kEvil[] = "<img src=x onerror=\"document.title='broken'\"></script><b id=broken>";

// Everybody is who they say.
class Anybody final : public Authenticator {
 public:
  explicit Anybody(std::string name) : name_(std::move(name)) {}

  absl::StatusOr<std::string> GenerateCredential() const override { return name_; }
  absl::StatusOr<AuthContext> VerifyCredential(absl::string_view credential,
                                               const Address&) const override {
    AuthContext context;
    context.user = std::string(credential);
    return context;
  }

 private:
  const std::string name_;
};

void EchoOrFail(Controller& controller, const test::EchoRequest& request,
                test::EchoResponse& response, google::protobuf::Closure* done) {
  if (request.message() == "fail") controller.SetFailed(kInternal, "as it was asked to");
  EchoBack(controller, request, response, done);
}

void Load(Channel& channel, const std::atomic<bool>& stop) {
  for (int i = 0; !stop; ++i) {
    TestCall(i % 20 == 0 ? "fail" : "hello").Call(channel);
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + i / 100 % 4));
  }
}

// Whether the server remembers some seconds of calls, which charts are drawn of.
bool HasHistory(HttpPeer& peer) {
  const auto answer = peer.Ask(HttpGet("/status?format=json"));
  constexpr char kMoment[] = "\"ago_s\"";
  int moments = 0;
  if (!answer.has_value()) return false;
  for (size_t at = answer->body.find(kMoment); at != std::string::npos;
       at = answer->body.find(kMoment, at + 1)) {
    ++moments;
  }
  return moments > 5;
}

int Main() {
  ServerOptions options;
  options.auth = std::make_shared<Anybody>("server");
  TestServer server(EchoOrFail, options);
  ChannelOptions evil = Patient();
  evil.auth = std::make_shared<Anybody>(kEvil);
  TestClient client(server.address(), evil);
  TestClient other(server.address());
  std::atomic<bool> stop{false};
  std::thread one([&] { Load(client.channel(), stop); });
  std::thread two([&] { Load(other.channel(), stop); });
  HttpPeer peer(server.address());
  Check(Eventually([&] { return HasHistory(peer); }, 3 * kTestTimeout),
        "a second has passed a few times");
  std::printf("%s\n", server.address().c_str());
  std::fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  stop = true;
  one.join();
  two.join();
  return 0;
}

}  // namespace
}  // namespace farcall

int main() { return farcall::Main(); }
