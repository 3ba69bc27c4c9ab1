// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_SERVICE_H_
#define FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rpc/attachment_placer.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/interceptor.h"
#include "rpc/session/server/testing/placing_run.h"
#include "transport/testing/test_random.h"

namespace farcall {

// The service of a run: it says where attachments shall lie, refuses some requests, and sees
// whether its memory is written, or given back, when it may not be. Of each request the message is
// its id.
class PlacingService final : public one::Lone, public AttachmentPlacer, public ServerInterceptor {
 public:
  // Whether a device may still write into [begin, begin + bytes).
  using WritesTo = std::function<bool(const char* begin, size_t bytes)>;

  // What it finds, and counts, goes to `outcome`.
  PlacingService(TestRandom& random, PlacingOutcome& outcome, WritesTo writes_to);

  // Before the first request.
  void set_wants_message(bool wants) { wants_message_ = wants; }
  // A request with so long an attachment will come.
  void Expect(uint64_t id, size_t attachment) { sizes_[id] = attachment; }
  static std::string AttachmentOf(uint64_t id, size_t bytes);

  // Requests wait for their place.
  bool owes() const { return !replies_.empty(); }
  // Says where that of the first of them is, if there is one.
  void AnswerOne();
  // Whether its memory is as it should be; and, when all is over, has come back.
  void Look();
  void LookAtEnd();

 private:
  struct Given;

  void Say(google::protobuf::RpcController* rpc, const one::Ping* request, one::Ping* response,
           google::protobuf::Closure* done) override;
  bool WantsMessage(const google::protobuf::MethodDescriptor& method) const override;
  void Place(const IncomingRequest& request, PlaceReply reply) override;
  void Answer(uint64_t id, PlaceReply reply);
  void End(Given& given, const absl::Status& how);
  bool OnIncoming(const google::protobuf::MethodDescriptor& method, Controller& controller,
                  size_t bytes) override;
  bool OnRequest(const google::protobuf::MethodDescriptor& method, Controller& controller,
                 const google::protobuf::Message& request) override;

  TestRandom& random_;
  PlacingOutcome& outcome_;
  const WritesTo writes_to_;
  bool wants_message_ = false;
  bool answering_ = false;
  std::vector<std::shared_ptr<Given>> given_;
  std::map<uint64_t, size_t> sizes_;
  std::map<uint64_t, int> runs_;
  std::deque<std::pair<uint64_t, PlaceReply>> replies_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_SERVICE_H_
