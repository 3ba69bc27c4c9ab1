// SPDX-License-Identifier: Apache-2.0
//
// Channel: a client's way to a server, or to several that serve the same. Give it to a protobuf
// stub:
//
//   farcall::ChannelOptions options;
//   options.use_rdma = true;
//   auto channel = farcall::Channel::Create("10.0.0.7:8002", options);
//   if (!channel.ok()) ...
//   EchoService_Stub stub(channel->get());
//   stub.Echo(&controller, &request, &response, nullptr);

#ifndef FARCALL_RPC_RUNTIME_CHANNEL_H_
#define FARCALL_RPC_RUNTIME_CHANNEL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/service.h"
#include "rpc/controller.h"
#include "rpc/options.h"

namespace farcall {

struct ChannelCalls;
class Cluster;
class ProcessMark;
class RoutedCall;
struct CallEnvironment;
template <typename T>
class ChunkPool;
struct RuntimeParts;

// Any thread, also from inside handlers and closures.
class Channel final : public google::protobuf::RpcChannel {
 public:
  // `target`: one server, "host:port", "1.2.3.4:port", "[::1]:port" or "unix:PATH"; or several,
  // "list://a:1,b:2", "file://PATH" or "dns://name:port" (docs/naming.md). Does not connect: the
  // first call does, and so does the next call after the connection broke. Fails on bad options.
  static absl::StatusOr<std::unique_ptr<Channel>> Create(absl::string_view target,
                                                         const ChannelOptions& options = {});
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  // Calls under way go on to their ends. The destructor does not wait for them.
  ~Channel() override;

  // As stubs call it. `controller` is a farcall::Controller, never null. `done` null: returns when
  // the call has ended. Else returns at once, and `done` is run exactly once, on a thread of the
  // runtime and never from inside this call; it must not throw. Controller, response and done live
  // until then. `request` may be destroyed when this returns; the attachment is taken.
  void CallMethod(const google::protobuf::MethodDescriptor* method,
                  google::protobuf::RpcController* controller,
                  const google::protobuf::Message* request, google::protobuf::Message* response,
                  google::protobuf::Closure* done) override;

 private:
  Channel(const RuntimeParts& parts, const ChannelOptions& options,
          std::vector<std::shared_ptr<Cluster>> clusters);
  const std::shared_ptr<ChannelCalls>& CallsOfThisThread() const;
  const ProcessMark& process() const;
  void Send(ChannelCalls& calls, RoutedCall& call, const google::protobuf::MethodDescriptor& method,
            Controller& controller, const google::protobuf::Message& request);

  const RuntimeParts& parts_;
  const ChannelOptions options_;
  std::vector<std::shared_ptr<ChannelCalls>> calls_;  // of each loop of the channel
};

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_CHANNEL_H_
