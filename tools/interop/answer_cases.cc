// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/interop/cases.h"
#include "tools/interop/client.h"

namespace farcall::interop {
namespace {

constexpr size_t kMib = size_t{1} << 20;

void Echo(const std::string& address) {
  const Client client(address);
  client.ExpectEcho("");
  client.ExpectEcho("h\xc3\xa4llo \xe4\xbd\xa0\xe5\xa5\xbd");
  for (const size_t size : {size_t{16}, size_t{1000}, size_t{200'000}, 3 * kMib}) {
    client.ExpectEcho(Text(size));
  }
}

void Attachments(const std::string& address) {
  const Client client(address);
  for (const size_t size : {size_t{1}, size_t{4095}, size_t{4096}, size_t{200'000}, 3 * kMib}) {
    client.ExpectEcho("with", Pattern(size, 1));
    client.ExpectEcho("without");
  }
}

void Compressed(const std::string& address, CompressType type) {
  const Client client(address);
  const auto compress = [&](Controller& controller) { controller.set_request_compress_type(type); };
  for (const size_t size : {size_t{0}, size_t{16}, size_t{200'000}, 3 * kMib}) {
    client.ExpectEcho(Text(size), "", compress);
    client.ExpectEcho(Text(size), Pattern(10'000, 2), compress);
  }
  // What does not become smaller, as text of base 64.
  std::string noise;
  for (uint32_t i = 0, bits = 1; i < 100'000; ++i) {
    bits = bits * 1664525 + 1013904223;
    noise.push_back("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[bits >> 26]);
  }
  client.ExpectEcho(noise, "", compress);
}

void HandlerErrors(const std::string& address) {
  const Client client(address);
  for (const char* text : {"the disk is full", "\xe7\xa3\x81\xe7\x9b\x98"}) {
    Call call;
    call.request.set_message("fail");
    call.request.set_fail_code(1234);
    call.request.set_fail_text(text);
    client.Echo(call);
    // brpc-java lets its handlers choose no code.
    Expect(call.controller.ErrorCode() == kInternal,
           absl::StrCat("expected EINTERNAL, got ", call.Outcome()));
    Expect(absl::StrContains(call.controller.ErrorText(), text), call.Outcome());
  }
  client.ExpectEcho("as before", "bytes");
}

void Timeout(const std::string& address) {
  const Client client(address);
  Call call;
  call.request.set_sleep_ms(900);
  client.ExpectTimeout(call);
  // Its answer comes now, with an id that nobody waits for.
  Call slow;
  slow.request.set_message("slow");
  slow.request.set_sleep_ms(1000);
  client.Echo(slow);
  Expect(!slow.controller.Failed(), slow.Outcome());
  client.ExpectEcho("as before");
}

void LogIdAndUserFields(const std::string& address) {
  Client(address).ExpectEcho("fields", "", [](Controller& controller) {
    controller.set_log_id(0x0123456789abcdef);
    controller.request_user_fields().Set("key", "value");
  });
}

}  // namespace

std::vector<Case> AnswerCases() {
  return {
      {"echo", Echo},
      {"attachments", Attachments},
      {"compress_none", [](const std::string& a) { Compressed(a, COMPRESS_TYPE_NONE); }},
      {"compress_snappy", [](const std::string& a) { Compressed(a, COMPRESS_TYPE_SNAPPY); }},
      {"compress_gzip", [](const std::string& a) { Compressed(a, COMPRESS_TYPE_GZIP); }},
      {"compress_zlib", [](const std::string& a) { Compressed(a, COMPRESS_TYPE_ZLIB); }},
      {"handler_errors", HandlerErrors},
      {"timeout", Timeout},
      {"log_id_and_user_fields", LogIdAndUserFields},
  };
}

}  // namespace farcall::interop
