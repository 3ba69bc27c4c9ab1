// SPDX-License-Identifier: Apache-2.0
//
// Any bytes at either end of brpc's handshake. What must hold: pieces do not matter, one answer is
// made at most, only what belongs to the handshake is taken, and what is usable is written and read
// as the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/brpc/client_machine.h"
#include "transport/brpc/server_machine.h"

namespace farcall {
namespace {

BrpcEnd Own() {
  BrpcEnd end;
  end.number = 1;
  return end;
}

// How it ended, and what was answered and left then.
std::string Serve(absl::string_view bytes, size_t piece) {
  using State = BrpcServerMachine::State;
  BrpcServerMachine server;
  Buffer input;
  std::string answer;
  while (!server.done()) {
    const absl::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    input.Append(part);
    absl::StatusOr<size_t> need = server.OnRead(input);
    if (server.state() == State::kAnswer) {
      Check(answer.empty(), "one answer, however much came");
      answer = server.hello().usable.ok() ? server.Accept(Own()) : server.Refuse(BrpcRefusal::kOff);
      need = server.OnRead(input);
    }
    if (!need.ok()) return absl::StrCat(need.status().ToString(), answer);
    Check(*need == 0 || *need > input.size(), "it waits for what is not there");
    if (bytes.empty() && !server.done()) return absl::StrCat("waits ", *need, answer);
  }
  return absl::StrCat("done ", server.state() == State::kRdma, answer, input.ToString(), bytes);
}

std::string Ask(absl::string_view bytes, size_t piece) {
  using State = BrpcClientMachine::State;
  const bool third = bytes.substr(0, 4) == "RDM3";
  BrpcClientMachine client(third ? BrpcVersion::kThird : BrpcVersion::kSecond);
  client.Ask(Own());
  Buffer input;
  while (!bytes.empty()) {
    input.Append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    const absl::StatusOr<size_t> need = client.OnRead(input);
    if (!need.ok()) return need.status().ToString();
  }
  const State state = client.state();
  if (state != State::kAnswered && state != State::kRefused) return "waits";
  const BrpcHello& hello = client.hello();
  client.Decide(hello.usable.ok());
  if (!hello.usable.ok()) return hello.usable.ToString();
  Buffer again(EncodeBrpcHello(hello.version, hello.end));
  BrpcHello read;
  const absl::StatusOr<size_t> need = CutBrpcHello(again, read);
  Check(need.ok() && *need == 0 && read.usable.ok() && read.end == hello.end,
        "what is usable is written and read as the same");
  return "usable";
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string served = farcall::Serve(bytes, size + 1);
  const std::string asked = farcall::Ask(bytes, size + 1);
  for (const size_t piece : {size_t{13}, size_t{1}}) {
    farcall::Check(farcall::Serve(bytes, piece) == served, "pieces do not matter");
    farcall::Check(farcall::Ask(bytes, piece) == asked, "nor here");
  }
  return 0;
}
