// SPDX-License-Identifier: Apache-2.0

#include "tools/interop/client.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"

namespace farcall::interop {

void Expect(bool holds, absl::string_view why) {
  if (!holds) throw Failure{std::string(why)};
}

std::string Pattern(size_t size, int seed) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251 + seed);
  return bytes;
}

std::string Text(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) absl::StrAppend(&text, "value ", i % 977, "; ");
  text.resize(size);
  return text;
}

ChannelOptions CaseOptions() {
  ChannelOptions options;
  options.timeout_ms = 10'000;
  options.connect_timeout_ms = 2000;
  options.max_retry = 0;
  return options;
}

std::string Call::Outcome() const {
  if (!controller.Failed()) return "success";
  return absl::StrCat(controller.ErrorCode(), " ", controller.ErrorText());
}

Client::Client(const std::string& address, const ChannelOptions& options) {
  auto channel = Channel::Create(address, options);
  if (!channel.ok()) throw Failure{channel.status().ToString()};
  channel_ = std::move(*channel);
}

void Client::Echo(Call& call) const {
  EchoService_Stub(channel_.get()).Echo(&call.controller, &call.request, &call.response, nullptr);
}

void Client::ExpectEcho(absl::string_view message, absl::string_view attachment,
                        const std::function<void(Controller&)>& change) const {
  Call call;
  call.request.set_message(std::string(message));
  call.controller.request_attachment().Append(attachment);
  if (change) change(call.controller);
  Echo(call);
  const std::string what =
      absl::StrCat("echo of ", message.size(), " + ", attachment.size(), " bytes");
  Expect(!call.controller.Failed(), absl::StrCat(what, " ended with ", call.Outcome()));
  Expect(call.response.message() == message, absl::StrCat(what, ": the message differs"));
  Expect(call.controller.response_attachment().ToString() == attachment,
         absl::StrCat(what, ": the attachment differs"));
}

void Client::ExpectTimeout(Call& call) const {
  call.request.set_message("too late");
  call.controller.set_timeout_ms(400);
  Echo(call);
  Expect(call.controller.ErrorCode() == kRpcTimedOut,
         absl::StrCat("not a timeout but ", call.Outcome()));
  const std::string before = call.controller.local_side();
  Call next;
  next.request.set_message("next");
  Echo(next);
  Expect(!next.controller.Failed(), absl::StrCat("the next call ended with ", next.Outcome()));
  Expect(next.controller.local_side() == before, "the connection was replaced");
}

void Until(const Client& client, absl::string_view what,
           const std::function<bool(const Call&)>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  for (;;) {
    Call call;
    call.request.set_message("again");
    call.controller.set_timeout_ms(2000);
    client.Echo(call);
    if (done(call)) return;
    Expect(std::chrono::steady_clock::now() < end,
           absl::StrCat(what, ": not within 40 s; the last call ended with ", call.Outcome()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace farcall::interop
