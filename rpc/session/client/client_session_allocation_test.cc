// SPDX-License-Identifier: Apache-2.0
//
// The meta of an answer that comes in pieces is parsed once, whoever it is for. The global
// operator new is replaced by one that counts, hence a program of its own.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rpc/session/client/client_session_testing.h"
#include "transport/testing/allocations/counted_new.h"

namespace farcall {
namespace {

constexpr int kFields = 5000;
constexpr int kReads = 20;

// Of `reads` that bring nothing new of an answer under that id, whose meta has kFields parts.
size_t AllocationsOf(int64_t id, int reads) {
  TestSessionClient client;
  client.Start();
  const auto wire = client.world.transport.Succeed();
  wire::RpcMeta meta;
  meta.mutable_response()->set_error_code(0);
  meta.set_correlation_id(id);
  for (int i = 0; i < kFields; ++i) meta.add_user_fields()->set_key("k");
  const auto encoder = FrameEncoder::Create(meta, nullptr, 1000);
  std::string head(encoder->head_size(), '\0');
  encoder->WriteTo(head.data());
  wire->Deliver(head);
  size_t taken = 0;
  client.world.loop->RunOrPost([&] {
    const size_t before = AllocationsSoFar();
    for (int i = 0; i < reads; ++i) wire->handler->OnRead(wire->input);
    taken = AllocationsSoFar() - before;
  });
  wire->End(absl::UnavailableError("closed by peer"));
  client.world.Run();
  return taken;
}

TEST(ClientSessionAllocationTest, TheMetaOfAnUnfinishedAnswerIsParsedOnce) {
  const int64_t kOwn = 1;
  for (const int64_t id : {kOwn, int64_t{0}, int64_t{77}, int64_t{-1}}) {
    EXPECT_LT(AllocationsOf(id, kReads), size_t{kFields}) << "id " << id;
  }
}

TEST(ClientSessionAllocationTest, AndParsingItIsSeen) {
  const size_t before = AllocationsSoFar();
  wire::RpcMeta meta;
  for (int i = 0; i < kFields; ++i) meta.add_user_fields()->set_key("k");
  EXPECT_GE(AllocationsSoFar() - before, size_t{kFields});
}

}  // namespace
}  // namespace farcall
