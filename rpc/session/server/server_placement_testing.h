// SPDX-License-Identifier: Apache-2.0
//
// For the tests of attachments that come to lie where a service wants them.

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_PLACEMENT_TESTING_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_PLACEMENT_TESTING_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/attachment_placer.h"
#include "rpc/session/server/server_session_testing.h"
#include "rpc/wire/pack.h"
#include "transport/copy_tally.h"

namespace farcall {

// Does what the test says; by default it gives `memory`.
class ScriptedPlacer final : public AttachmentPlacer {
 public:
  void Place(const IncomingRequest& request, PlaceReply reply) override {
    ++asked;
    place(request, std::move(reply));
  }
  bool WantsMessage(const google::protobuf::MethodDescriptor&) const override {
    if (throws) throw std::runtime_error("no table");
    return wants;
  }
  void Give(PlaceReply& reply) {
    Buffer buffer;
    buffer.AppendUserData(memory.data(), memory.size(), nullptr);
    reply.Memory(std::move(buffer), [this](const absl::Status& how) { ended.push_back(how); });
  }

  std::function<void(const IncomingRequest&, PlaceReply)> place =
      [this](const IncomingRequest&, PlaceReply reply) { Give(reply); };
  bool wants = false;
  bool throws = false;  // WantsMessage
  std::string memory = std::string(40, '.');
  std::vector<absl::Status> ended;
  int asked = 0;
};

class ServerPlacementTest : public ServerSessionTest {
 protected:
  ServerPlacementTest() {
    core_ = std::make_shared<ServerCore>();
    core_->parts = world_.parts;
    core_->parts.copied = &copied_;
    EXPECT_TRUE(core_->services.Add(service_, &placer_).ok());
    service_.say = [this](Controller& controller, google::protobuf::Closure* done) {
      attachments_.push_back(std::move(controller.request_attachment()));
      done->Run();
    };
  }
  // Nothing of the service's memory is referred to any more.
  void TearDown() override { attachments_.clear(); }

  static std::string Put(int64_t id, const std::string& attachment, wire::RpcMeta meta,
                         const Packing& packing = {}) {
    meta.set_correlation_id(id);
    one::Ping ping;
    ping.set_text(absl::StrCat("put ", id));
    const auto pool = BlockPool::Create({.region_bytes = size_t{2} << 20});
    const auto payload = Pack(ping, packing, Buffer(attachment), **pool, meta);
    const auto encoder = FrameEncoder::Create(meta, *payload, attachment.size());
    std::string bytes(encoder->head_size(), '\0');
    encoder->WriteTo(bytes.data());
    return bytes + payload->ToString() + attachment;
  }
  static std::string Put(int64_t id, const std::string& attachment) {
    return Put(id, attachment, RequestMeta(id));
  }
  // Delivers it in pieces of `step`, up to the last `rest` bytes.
  void Deliver(const std::string& bytes, size_t step = 1, size_t rest = 0) {
    for (size_t at = 0; at + rest < bytes.size(); at += step) {
      wire_->Deliver(bytes.substr(at, std::min(step, bytes.size() - rest - at)));
    }
    world_.Run();
  }
  void DeliverRest(const std::string& bytes, size_t rest) {
    Deliver(bytes.substr(bytes.size() - rest));
  }
  uint64_t NotLanded() const { return copied_.Sum()[CopyCause::kNotLanded]; }
  int AnswerCode() { return Answer().meta.response().error_code(); }

  CopyTally copied_;
  ScriptedPlacer placer_;
  std::vector<Buffer> attachments_;  // that the handler got
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_PLACEMENT_TESTING_H_
