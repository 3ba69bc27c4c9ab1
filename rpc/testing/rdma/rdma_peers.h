// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_RDMA_RDMA_PEERS_H_
#define FARCALL_RPC_TESTING_RDMA_RDMA_PEERS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {

// The message that a server answers by what carries its connection, its device, and why not
// RDMA; others it sends back.
inline constexpr char kWhere[] = "where";

inline void EchoOrWhere(Controller& controller, const test::EchoRequest& request,
                        test::EchoResponse& response, google::protobuf::Closure* done) {
  if (request.message() != kWhere) return EchoBack(controller, request, response, done);
  const ConnectionInfo& info = *controller.connection();
  response.set_message(
      absl::StrCat(ToString(info.transport), " ", info.device, " ", Name(info.why_not_rdma)));
  done->Run();
}

template <typename Options>
Options WithRdma(Options options) {
  options.use_rdma = true;
  return options;
}

// For who counts threads: a handler of a slow machine brings no other.
inline ServerOptions WithoutHandlerThreads(ServerOptions options) {
  options.handler_threads = 0;
  return options;
}

// A server and a channel to it on the two ends of a pair. One thread.
class RdmaPeers {
 public:
  explicit RdmaPeers(RdmaPair& pair, const ServerOptions& server = WithRdma(ServerOptions()),
                     const ChannelOptions& client = WithRdma(Patient()),
                     EchoHandler echo = EchoOrWhere, const ServiceOptions& service = {})
      : pair_(pair),
        server_options_(server),
        client_options_(client),
        echo_(std::move(echo)),
        service_(service) {
    server_options_.runtime = &pair.server().runtime();
    server_ = std::make_unique<TestServer>(echo_, server_options_, "127.0.0.1:0", service_);
    address_ = server_->address();
    channel_ = Open();
  }

  Channel& channel() const { return *channel_; }
  Server& server() const { return server_->server(); }
  // Another channel to the same server.
  std::unique_ptr<Channel> Open() const {
    return OpenChannel(address_, pair_.client().runtime(), client_options_);
  }
  // At the same address.
  void Restart() {
    server_.reset();
    server_ = std::make_unique<TestServer>(echo_, server_options_, address_, service_);
  }
  void EndServer() { server_.reset(); }
  void EndChannel() { channel_.reset(); }

  // Until both ends say that they use RDMA; needs EchoOrWhere. False: not within `timeout`.
  [[nodiscard]] bool ComeToRdma(Duration timeout = 2 * kTestTimeout) const {
    return Eventually(
        [&] {
          TestCall call(kWhere);
          call.Call(channel());
          return !call.controller.Failed() && absl::StartsWith(call.response.message(), "rdma ") &&
                 call.controller.connection()->transport == TransportKind::kRdma;
        },
        timeout);
  }

 private:
  RdmaPair& pair_;
  ServerOptions server_options_;
  const ChannelOptions client_options_;
  const EchoHandler echo_;
  const ServiceOptions service_;
  std::string address_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<Channel> channel_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_RDMA_RDMA_PEERS_H_
