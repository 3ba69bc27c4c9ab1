// SPDX-License-Identifier: Apache-2.0
//
// How a program may end while it has servers, channels and calls under way. The programs are this
// one again, with the name of what it does.

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/process/call_load.h"
#include "rpc/testing/process/child_process.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// The exit status of a program that did what it should until it ended.
constexpr int kDone = 7;

ServerOptions OnDefault() { return {}; }

struct OnDefaultRuntime {
  OnDefaultRuntime() : service(EchoBack) {
    Check(server.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok(), "there is a service");
    Check(server.Start("127.0.0.1:0", OnDefault()).ok(), "the server starts");
    auto made = Channel::Create(server.listen_address().ToString(), Patient());
    Check(made.ok(), "there is a channel");
    channel = *std::move(made);
  }
  bool Call() { return TestCall().Call(*channel).Echoed(); }

  ScriptedService service;
  Server server;
  std::unique_ptr<Channel> channel;
};

std::unique_ptr<OnDefaultRuntime>& StaticPeers() {
  static std::unique_ptr<OnDefaultRuntime> peers = std::make_unique<OnDefaultRuntime>();
  return peers;
}

// Calls that the program does not wait for.
void LeaveCallsUnderWay(Channel& channel) {
  static auto* const calls = new std::vector<std::unique_ptr<TestCall>>;
  for (int i = 0; i < 100; ++i) {
    calls->push_back(std::make_unique<TestCall>());
    calls->back()->controller.request_attachment().Append(std::string(10'000, 'x'));
    calls->back()->Start(channel);
  }
}

int MainReturns() {
  if (!StaticPeers()->Call()) return 1;
  LeaveCallsUnderWay(*StaticPeers()->channel);
  return kDone;
}

int NeverDestroyed() {
  static auto* const peers = new OnDefaultRuntime;
  if (!peers->Call()) return 1;
  LeaveCallsUnderWay(*peers->channel);
  return kDone;
}

int ARuntimeOfItsOwn() {
  static TestServer server;
  static TestClient client(server.address());
  return TestCall().Call(client.channel()).Echoed() ? kDone : 1;
}

bool CallWithId() {
  TestCall call;
  call.controller.set_request_id("id");
  return call.Call(*StaticPeers()->channel).Echoed();
}

// The main thread's thread-local objects are gone by then.
struct CallsAtTheEnd {
  ~CallsAtTheEnd() {
    for (int i = 0; i < 2; ++i) {
      if (!CallWithId()) std::_Exit(2);
    }
  }
};

int AStaticObjectCalls() {
  StaticPeers();
  static const CallsAtTheEnd calls;
  return CallWithId() ? kDone : 1;
}

// While others call: a channel that they use must outlive them.
int ExitInAThread() {
  static auto* const peers = new OnDefaultRuntime;
  static CallLoad* const load = new CallLoad(*peers->channel);
  if (!Eventually([] { return load->succeeded() > 100; })) return 1;
  std::thread([] { std::exit(kDone); }).join();
  return 2;
}

// Closures run on a thread of the runtime, which is never destroyed and does not wait for them.
int ExitInAClosure() {
  static auto* const peers = new OnDefaultRuntime;
  class Leave final : public google::protobuf::Closure {
    void Run() override { std::exit(kDone); }
  };
  static auto* const controller = new Controller;
  static auto* const request = new test::EchoRequest;
  static auto* const response = new test::EchoResponse;
  test::TestService_Stub(peers->channel.get()).Echo(controller, request, response, new Leave);
  for (;;) ::pause();
}

int QuickExit() {
  if (!StaticPeers()->Call()) return 1;
  LeaveCallsUnderWay(*StaticPeers()->channel);
  std::quick_exit(kDone);
}

struct Program {
  absl::string_view name;
  int (*run)();
};
constexpr Program kPrograms[] = {
    {"main_returns", MainReturns},
    {"never_destroyed", NeverDestroyed},
    {"runtime_of_its_own", ARuntimeOfItsOwn},
    {"static_object_calls", AStaticObjectCalls},
    {"exit_in_a_thread", ExitInAThread},
    {"exit_in_a_closure", ExitInAClosure},
    {"quick_exit", QuickExit},
};

class ProcessEndTest : public testing::TestWithParam<Program> {};

TEST_P(ProcessEndTest, Ends) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(RunSelf(std::string(GetParam().name)), kDone) << "run " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ProcessEndTest, testing::ValuesIn(kPrograms),
                         [](const auto& each) { return std::string(each.param.name); });

int RunProgram(absl::string_view name) {
  EndInTime();
  for (const Program& program : kPrograms) {
    if (program.name == name) return program.run();
  }
  return 99;
}

}  // namespace
}  // namespace farcall

int main(int argc, char** argv) {
  if (argc == 2 && argv[1][0] != '-') return farcall::RunProgram(argv[1]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
