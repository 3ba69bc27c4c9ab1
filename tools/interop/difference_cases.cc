// SPDX-License-Identifier: Apache-2.0

#include "tools/interop/cases.h"
#include "tools/interop/client.h"

namespace farcall::interop {
namespace {

// brpc-java answers what it cannot serve with correlation id 0, which no farcall call has: the
// call ends by its deadline, and the connection goes on.
void ExpectNoAnswer(const Client& client, const std::function<void(Call&)>& send) {
  Call call;
  call.request.set_message("nobody answers");
  call.controller.set_timeout_ms(400);
  send(call);
  Expect(call.controller.ErrorCode() == kRpcTimedOut, "not a timeout but " + call.Outcome());
  client.ExpectEcho("the connection goes on");
}

void UnknownService(const std::string& address) {
  const Client client(address);
  ExpectNoAnswer(client, [&](Call& call) {
    AbsentService_Stub(client.channel())
        .Echo(&call.controller, &call.request, &call.response, nullptr);
  });
}

void UnknownMethod(const std::string& address) {
  const Client client(address);
  ExpectNoAnswer(client, [&](Call& call) {
    EchoService_Stub(client.channel())
        .FarcallOnly(&call.controller, &call.request, &call.response, nullptr);
  });
}

// It does not know number 4.
void Lz4(const std::string& address) {
  const Client client(address);
  ExpectNoAnswer(client, [&](Call& call) {
    call.controller.set_request_compress_type(COMPRESS_TYPE_LZ4);
    client.Echo(call);
  });
}

// Field 7 is a list of messages there, and a plain id is none.
void RequestId(const std::string& address) {
  const Client client(address);
  ExpectNoAnswer(client, [&](Call& call) {
    call.controller.set_request_id("an-id");
    client.Echo(call);
  });
}

// Neither verified nor answered with one.
void Checksum(const std::string& address) {
  const Client client(address);
  for (const char* attachment : {"", "attached"}) {
    client.ExpectEcho("summed", attachment, [](Controller& controller) {
      controller.set_request_checksum_type(CHECKSUM_TYPE_CRC32C);
    });
  }
}

}  // namespace

std::vector<Case> DifferenceCases() {
  return {
      {"unknown_service_is_not_answered", UnknownService},
      {"unknown_method_is_not_answered", UnknownMethod},
      {"lz4_is_not_answered", Lz4},
      {"request_id_is_not_answered", RequestId},
      {"checksum_is_ignored", Checksum},
  };
}

}  // namespace farcall::interop
