// SPDX-License-Identifier: Apache-2.0
//
// The meta of an answer that comes in pieces is parsed once, whoever it is for. The global
// operator new is replaced by one that counts, hence a program of its own.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "rpc/session/client/client_session_testing.h"

namespace {
thread_local size_t allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return ::operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

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
    const size_t before = allocations;
    for (int i = 0; i < reads; ++i) wire->handler->OnRead(wire->input);
    taken = allocations - before;
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
  const size_t before = allocations;
  wire::RpcMeta meta;
  for (int i = 0; i < kFields; ++i) meta.add_user_fields()->set_key("k");
  EXPECT_GE(allocations - before, size_t{kFields});
}

}  // namespace
}  // namespace farcall
