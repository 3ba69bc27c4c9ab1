// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/test_peers.h"

#include <utility>

#include "transport/base/check.h"

namespace farcall {
namespace {

// Twice what tests wait, so that the test's own bound speaks first.
constexpr int kPatientMs = 2000 * static_cast<int>(kTestTimeout.count());

std::unique_ptr<TestRuntime> OwnRuntime(const ServerOptions& options) {
  return options.runtime == nullptr ? std::make_unique<TestRuntime>() : nullptr;
}

}  // namespace

RuntimeOptions OneLoop() {
  RuntimeOptions options;
  options.event_loops = 1;
  options.link.probe_timeout = kTestTimeout;
  return options;
}

ChannelOptions Patient() {
  ChannelOptions options;
  options.timeout_ms = kPatientMs;
  options.connect_timeout_ms = kPatientMs;
  options.max_retry = 0;
  return options;
}

ServerOptions Inline() {
  ServerOptions options;
  options.handler_threads = 0;
  return options;
}

ServerOptions OnPool(int threads) {
  ServerOptions options;
  options.handler_threads = threads;
  options.handlers_on_pool = true;
  return options;
}

std::unique_ptr<Channel> OpenChannel(const std::string& target, Runtime& runtime,
                                     ChannelOptions options) {
  options.runtime = &runtime;
  auto channel = Channel::Create(target, options);
  Check(channel.ok(), "a test gives good options");
  return *std::move(channel);
}

TestRuntime::TestRuntime(RuntimeOptions options) {
  options.log = log_.Sink();
  auto runtime = Runtime::Create(options);
  Check(runtime.ok(), "a test gets threads, descriptors and memory");
  runtime_ = *std::move(runtime);
}

TestServer::TestServer(EchoHandler echo, ServerOptions options, const std::string& address,
                       const ServiceOptions& service)
    : runtime_(OwnRuntime(options)), service_(std::move(echo)) {
  if (runtime_ != nullptr) options.runtime = &**runtime_;
  const absl::Status added = server_->AddService(&service_, SERVER_DOESNT_OWN_SERVICE, service);
  Check(added.ok(), "a server takes a service");
  const absl::Status started = server_->Start(address, options);
  Check(started.ok(), "a test server starts");
}

}  // namespace farcall
