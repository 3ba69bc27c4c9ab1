// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the beginning of a brpc client with RDMA on. What must hold: pieces do not matter,
// one answer is made at most, and only what belongs to the handshake is taken.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/session/brpc_rdma_hello.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// How it ended, and what was answered and left then.
std::string Outcome(absl::string_view bytes, size_t piece) {
  BrpcRdmaHello hello;
  Buffer input;
  std::string answer;
  absl::StatusOr<size_t> need = 1;
  while (need.ok() && *need != 0) {
    if (bytes.empty()) return absl::StrCat("waits for ", *need, " ", answer, input.ToString());
    const absl::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    input.Append(part);
    need = hello.OnRead(input, answer);
    Check(!need.ok() || *need == 0 || *need > input.size(), "it waits for what is not there");
    Check(answer.size() <= 40, "one answer, however much came");
  }
  Check(need.ok() == hello.done(), "it is over when nothing is needed any more");
  if (!need.ok()) return absl::StrCat(need.status().ToString(), answer);
  return absl::StrCat("done ", answer, input.ToString(), bytes);
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = farcall::Outcome(bytes, size + 1);
  farcall::Check(farcall::Outcome(bytes, 13) == whole, "pieces do not matter");
  farcall::Check(farcall::Outcome(bytes, 1) == whole, "single bytes do not matter");
  return 0;
}
