// SPDX-License-Identifier: Apache-2.0
//
// Before a server serves: services and limits in any order, and starts that fail.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/reflection/reflection.pb.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/transport.h"

namespace farcall {
namespace {

class OtherService final : public test::MissingService {
 public:
  explicit OtherService(int* deaths = nullptr) : deaths_(deaths) {}
  ~OtherService() override {
    if (deaths_ != nullptr) ++*deaths_;
  }

 private:
  int* const deaths_;
};

class StartTest : public ::testing::Test {
 protected:
  // Where TCP has the port already.
  void FailToStart() {
    TestServer first;
    const absl::Status failed = server_.Start(first.address(), options_);
    EXPECT_FALSE(failed.ok());
    EXPECT_NE(failed.message().find(first.address()), absl::string_view::npos) << failed;
  }
  // Fails with ENOSERVICE where there is no reflection.
  int ListServices(std::vector<std::string>& names) {
    TestClient client(server_.listen_address().ToString());
    Controller controller;
    const ListServicesRequest request;
    ListServicesResponse response;
    Reflection_Stub(&client.channel()).ListServices(&controller, &request, &response, nullptr);
    names.assign(response.service().begin(), response.service().end());
    return controller.ErrorCode();
  }

  TestRuntime runtime_;
  ScriptedService service_{EchoBack};
  OtherService other_;
  Server server_;
  ServerOptions options_ = [this] {
    ServerOptions options;
    options.runtime = &*runtime_;
    return options;
  }();
};

TEST_F(StartTest, WhatAFailedStartWasToldIsForgotten) {
  ASSERT_TRUE(server_.AddService(&service_, SERVER_DOESNT_OWN_SERVICE).ok());
  FailToStart();
  options_.http = false;
  options_.reflection = false;
  ASSERT_TRUE(server_.Start("127.0.0.1:0", options_).ok());
  const std::string address = server_.listen_address().ToString();
  EXPECT_FALSE(HttpPeer(address).Ask(HttpGet("/status")).has_value());
  std::vector<std::string> names;
  EXPECT_EQ(ListServices(names), kNoService);
  TestClient client(address);
  TestCall call;
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
}

TEST_F(StartTest, ARuntimeOnWhichItDidNotStartMayGoBeforeTheServer) {
  {
    TestServer first;
    TestRuntime gone;
    options_.runtime = &*gone;
    EXPECT_FALSE(server_.Start(first.address(), options_).ok());
  }
  EXPECT_TRUE(server_.Stop(std::chrono::seconds(1)).ok());
}

TEST_F(StartTest, ReflectionKnowsWhatWasAddedAfterAFailedStart) {
  ASSERT_TRUE(server_.AddService(&service_, SERVER_DOESNT_OWN_SERVICE).ok());
  FailToStart();
  ASSERT_TRUE(server_.AddService(&other_, SERVER_DOESNT_OWN_SERVICE).ok());
  ASSERT_TRUE(server_.Start("127.0.0.1:0", options_).ok());
  std::vector<std::string> names;
  EXPECT_EQ(ListServices(names), 0);
  EXPECT_EQ(names, (std::vector<std::string>{"farcall.Reflection", "farcall.test.MissingService",
                                             "farcall.test.TestService"}));
  const auto page = HttpPeer(server_.listen_address().ToString()).Ask(HttpGet("/status"));
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->status, 200);
}

TEST_F(StartTest, ALimitMayBeSetBeforeItsServiceIsAdded) {
  server_.MaxConcurrencyOf("TestService.Echo") = 2;
  EXPECT_EQ(server_.MaxConcurrencyOf("TestService.Echo").max().number(), 2);
  const absl::Status early = server_.Start("127.0.0.1:0", options_);
  EXPECT_TRUE(absl::IsNotFound(early)) << early;
  ASSERT_TRUE(server_.AddService(&service_, SERVER_DOESNT_OWN_SERVICE).ok());
  const absl::Status started = server_.Start("127.0.0.1:0", options_);
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_EQ(server_.MaxConcurrencyOf("farcall.test.TestService.Echo").now(), 2);
}

TEST_F(StartTest, AnOwnedServiceIsTheServersWhateverAddServiceReturns) {
  int deaths = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(server_.AddService(nullptr, SERVER_OWNS_SERVICE)));
  EXPECT_TRUE(server_.AddService(new OtherService(&deaths), SERVER_OWNS_SERVICE).ok());
  EXPECT_FALSE(server_.AddService(new OtherService(&deaths), SERVER_OWNS_SERVICE).ok());
  EXPECT_EQ(deaths, 1) << "its name is taken";
  ASSERT_TRUE(server_.Start("127.0.0.1:0", options_).ok());
  EXPECT_FALSE(server_.AddService(new OtherService(&deaths), SERVER_OWNS_SERVICE).ok());
  EXPECT_EQ(deaths, 2) << "it is too late";
}

// Listens on IPv4 alone, and says why not on IPv6.
class WithoutIpv6 final : public Transport {
 public:
  WithoutIpv6(Transport& below, absl::Status why) : below_(below), why_(std::move(why)) {}
  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override {
    below_.Connect(loop, peer, options, std::move(done));
  }
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override {
    if (address.family() == AddressFamily::kIpv6) return why_;
    return below_.Listen(loops, address, options, std::move(on_accept));
  }

 private:
  Transport& below_;
  const absl::Status why_;
};

TEST_F(StartTest, OnAPortItFallsBackToIpv4OnlyWhereThereIsNoIpv6) {
  for (const absl::Status& why :
       {absl::UnimplementedError("Address family not supported by protocol"),
        absl::PermissionDeniedError("Permission denied"),
        absl::AlreadyExistsError("Address already in use"),
        absl::ResourceExhaustedError("Too many open files")}) {
    SCOPED_TRACE(why);
    WithoutIpv6 transport(*(*runtime_).parts().transport, why);
    RuntimeParts parts = (*runtime_).parts();
    parts.transport = &transport;
    const auto runtime = Runtime::On(parts);
    ServerOptions options;
    options.runtime = runtime.get();
    Server server;
    const absl::Status started = server.Start(0, options);
    if (absl::IsUnimplemented(why)) {
      ASSERT_TRUE(started.ok()) << started;
      EXPECT_EQ(server.listen_address().family(), AddressFamily::kIpv4);
    } else {
      EXPECT_EQ(started, why);
    }
  }
}

}  // namespace
}  // namespace farcall
