// SPDX-License-Identifier: Apache-2.0
//
// What the C++ blocks of README.md and docs take as given: the headers, and what the text around
// a block speaks of. Nothing here is defined: the blocks are compiled and never run.

#ifndef FARCALL_TOOLS_SNIPPETS_PRELUDE_H_
#define FARCALL_TOOLS_SNIPPETS_PRELUDE_H_

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "examples/echo/echo.pb.h"
#include "farcall/authenticator.h"
#include "farcall/channel.h"
#include "farcall/closure.h"
#include "farcall/controller.h"
#include "farcall/coroutine.h"
#include "farcall/interceptor.h"
#include "farcall/retry_policy.h"
#include "farcall/run_until_asked_to_quit.h"
#include "farcall/runtime.h"
#include "farcall/server.h"

using example::EchoService_Stub;

extern farcall::Server server;
extern farcall::ServerOptions server_options;
extern std::shared_ptr<farcall::ServerTlsOptions> server_tls;
extern farcall::Channel& channel;
extern farcall::ChannelOptions options;
extern farcall::ChannelOptions channel_options;
extern std::shared_ptr<farcall::ClientTlsOptions> client_tls;
extern farcall::Runtime& runtime;
extern farcall::Controller controller;

extern example::EchoRequest request;
extern example::EchoResponse response;
extern std::string block, name;
extern std::vector<farcall::Task<>> tasks;

class EchoServiceImpl final : public example::EchoService {};

std::string NewTraceId();
example::EchoRequest MakeRequest();
farcall::Task<> Echo(const example::EchoRequest& request);
// The exit code of a program that ends so.
int Fail(const absl::Status& status);
int Report(const absl::Status& status);

#endif  // FARCALL_TOOLS_SNIPPETS_PRELUDE_H_
