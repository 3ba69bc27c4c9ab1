// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the beginning of a connection, and as the payloads of upgrade frames. What
// must hold: nothing is taken but a whole hello, more bytes never change what a prefix
// was found to be, and what was read can be written and read again.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/link/hello/hello.h"
#include "transport/link/upgrade/upgrade_messages.h"

namespace farcall {
namespace {

void CheckHello(absl::string_view bytes) {
  HelloCut before = HelloCut::kMore;
  for (size_t size = 0; size <= bytes.size() && size <= kHelloMost + 1; ++size) {
    Buffer input(bytes.substr(0, size));
    link::Hello hello;
    const HelloCut cut = CutHello(input, hello);
    Check(before == HelloCut::kMore || cut == before, "more bytes change nothing");
    before = cut;
    if (cut != HelloCut::kWhole) {
      Check(input.size() == size, "nothing is taken");
      continue;
    }
    Check(size - input.size() >= kHelloLeast, "a hello has at least 64 bytes");
    if (hello.ByteSizeLong() > kHelloMost - kHelloHeader) return;
    Buffer again(EncodeHello(hello));
    link::Hello read;
    Check(CutHello(again, read) == HelloCut::kWhole && again.empty(), "it is written again");
    Check(read.window() == hello.window() && read.version() == hello.version(), "as it was");
    // From here on only what follows grows.
    if (size > kHelloLeast + 8) return;
  }
}

void CheckAnswer(absl::string_view bytes) {
  Buffer input(bytes);
  link::HelloAnswer answer;
  const bool whole = CutAnswer(input, answer) == HelloCut::kWhole;
  Check(whole == (input.size() < bytes.size()), "nothing but an answer is taken");
}

void CheckMessages(absl::string_view bytes) {
  if (const auto ask = ParseAsk(bytes); ask.ok()) {
    const auto again = ParseAsk(EncodeAsk(ask->generation, ask->why));
    Check(again.ok() && again->generation == ask->generation, "an ask is written again");
  }
  if (const auto offer = ParseOffer(bytes); offer.ok()) {
    Check(offer->addresses.size() <= kMaxOffered, "an offer is bounded");
    const auto again = ParseOffer(EncodeOffer(offer->pass, offer->addresses));
    Check(again.ok() && again->pass.token == offer->pass.token, "an offer is written again");
    Check(again->addresses.size() == offer->addresses.size(), "with its addresses");
  }
  if (const auto decline = ParseDecline(bytes); decline.ok()) {
    const auto again = ParseDecline(EncodeDecline(decline->generation, decline->why));
    Check(again.ok() && again->generation == decline->generation, "a decline is written again");
  }
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  farcall::CheckHello(bytes);
  farcall::CheckAnswer(bytes);
  farcall::CheckMessages(bytes);
  return 0;
}
