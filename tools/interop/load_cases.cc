// SPDX-License-Identifier: Apache-2.0

#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tools/interop/cases.h"
#include "tools/interop/client.h"

namespace farcall::interop {
namespace {

constexpr int kThreads = 8;
constexpr int kCalls = 10'000;

// kThreads threads run `work` with their number; throws the first Failure.
void OnThreads(const std::function<void(int)>& work) {
  std::mutex mutex;
  std::string why;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (const Failure& failure) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (why.empty()) why = failure.why;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Expect(why.empty(), why);
}

void CallOnThreads(const Client& client, int calls) {
  OnThreads([&](int thread) {
    for (int i = 0; i < calls / kThreads; ++i) {
      client.ExpectEcho(absl::StrCat("thread ", thread, " call ", i),
                        i % 10 == 0 ? Pattern(static_cast<size_t>(i) * 10, thread) : "");
    }
  });
}

void TenThousandCalls(const std::string& address) { CallOnThreads(Client(address), kCalls); }

void Connections(const std::string& address, ConnectionType type, int calls) {
  ChannelOptions options = CaseOptions();
  options.connection_type = type;
  CallOnThreads(Client(address, options), calls);
}

// The server finishes what runs, refuses then, and calls succeed again once it is back.
void ServerStop(const std::string& address) {
  const Client client(address);
  client.ExpectEcho("before");
  Call slow;
  std::thread in_flight([&] {
    slow.request.set_message("in flight");
    slow.request.set_sleep_ms(1500);
    client.Echo(slow);
  });
  Call stop;
  stop.request.set_message("stop");
  EchoService_Stub(client.channel()).Stop(&stop.controller, &stop.request, &stop.response, nullptr);
  in_flight.join();
  Expect(!stop.controller.Failed(), "Stop: " + stop.Outcome());
  Expect(!slow.controller.Failed(), "the call in flight ended with " + slow.Outcome());

  Until(client, "calls fail once the server has stopped",
        [](const Call& call) { return call.controller.Failed(); });
  Until(client, "calls succeed again", [](const Call& call) { return !call.controller.Failed(); });
  client.ExpectEcho("after", "bytes");
}

}  // namespace

std::vector<Case> LoadCases() {
  return {
      {"calls_10000_on_8_threads", TenThousandCalls},
      {"connection_single",
       [](const std::string& a) { Connections(a, CONNECTION_TYPE_SINGLE, 800); }},
      {"connection_pooled",
       [](const std::string& a) { Connections(a, CONNECTION_TYPE_POOLED, 800); }},
      {"connection_short",
       [](const std::string& a) { Connections(a, CONNECTION_TYPE_SHORT, 400); }},
      {"server_stop", ServerStop},
  };
}

}  // namespace farcall::interop
