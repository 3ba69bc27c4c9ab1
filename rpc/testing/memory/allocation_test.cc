// SPDX-License-Identifier: Apache-2.0
//
// In the steady state a 1 KiB echo allocates nothing on the threads of the loops: not in reading,
// cutting, routing, answering, nor around the handler and the closure, which run there too. The
// global operator new is replaced by one that counts, hence a program of its own.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "rpc/testing/test_peers.h"
#include "transport/loop/loop_testing.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<size_t> on_loops{0};

bool IsLoopThread() {
  char name[16] = "";
  return ::pthread_getname_np(::pthread_self(), name, sizeof(name)) == 0 &&
         std::strcmp(name, "farcall-loop") == 0;
}

void* Allocate(size_t size, size_t alignment) {
  if (counting && IsLoopThread()) ++on_loops;
  void* memory = nullptr;
  if (::posix_memalign(&memory, alignment, size) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size, alignof(std::max_align_t)); }
void* operator new[](size_t size) { return Allocate(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace farcall {
namespace {

constexpr int kInFlight = 8;
constexpr int kWarmUp = 2000;  // calls of each
constexpr int kMeasured = 5000;
// A container with room for the most calls that came at once so far may grow after the warm-up, as
// on a busy machine; what calls cost shows in each of so many measurements.
constexpr int kMeasurements = 5;

// Makes its next call from the closure of the last one.
class Caller final : private google::protobuf::Closure {
 public:
  explicit Caller(Channel& channel) : stub_(&channel) {
    request_.set_message(std::string(1024, 'x'));
  }
  void Go(int calls) {
    left_ = calls;
    Start();
  }
  bool Wait() { return done_.Wait(++waits_); }
  int failed() const { return failed_; }

 private:
  void Start() {
    controller_.Reset();
    stub_.Echo(&controller_, &request_, &response_, this);
  }
  void Run() override {
    if (controller_.Failed() || response_.message().size() != 1024) ++failed_;
    if (--left_ > 0) return Start();
    done_.Signal();
  }

  test::TestService_Stub stub_;
  Controller controller_;
  test::EchoRequest request_;
  test::EchoResponse response_;
  int left_ = 0;
  int failed_ = 0;
  int waits_ = 0;
  TestEvent done_;
};

void Run(std::vector<std::unique_ptr<Caller>>& callers, int calls) {
  for (const auto& caller : callers) caller->Go(calls);
  for (const auto& caller : callers) ASSERT_TRUE(caller->Wait());
}

TEST(AllocationTest, TheCounterCounts) {
  TestServer server(EchoBack, Inline());
  TestClient client(server.address());
  counting = true;
  on_loops = 0;
  Caller caller(client.channel());
  caller.Go(1);  // with it comes a connection
  ASSERT_TRUE(caller.Wait());
  counting = false;
  EXPECT_GT(on_loops, 0u);
}

void ExpectNone(ChannelOptions options) {
  TestServer server(EchoBack, Inline());
  TestClient client(server.address(), options);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < kInFlight; ++i) {
    callers.push_back(std::make_unique<Caller>(client.channel()));
  }
  Run(callers, kWarmUp);
  for (int left = kMeasurements; left > 0; --left) {
    on_loops = 0;
    counting = true;
    Run(callers, kMeasured);
    counting = false;
    if (on_loops == 0) break;
  }
  EXPECT_EQ(on_loops, 0u) << "in " << kInFlight * kMeasured << " calls, " << kMeasurements
                          << " times";
  for (const auto& caller : callers) EXPECT_EQ(caller->failed(), 0);
}

TEST(AllocationTest, ASteadyEchoAllocatesNothingOnTheLoops) { ExpectNone(Patient()); }

TEST(AllocationTest, NorDoesOneThatMayBeSentAgain) {
  ChannelOptions options = Patient();
  options.max_retry = 3;
  ExpectNone(options);
}

}  // namespace
}  // namespace farcall
