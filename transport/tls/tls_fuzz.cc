// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a server reads from a client: instead of its handshake, within it, and after
// it. What must hold: no byte is read that was not encrypted, an error is reported once and for
// all, and the answer stays small.
//
// The first byte says where the others come in: after how many bytes of a good client's first
// flight (0 to 253: so many times 4), after a whole handshake (254), or after it and with the
// record's header put before them (255).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/tls/testing/engine_pair.h"

namespace farcall {
namespace {

using Outcome = TlsEngine::Outcome;

constexpr uint8_t kAfterHandshake = 254;

EnginePair NewPair() {
  static TestCa ca;  // its directory goes with the process
  static const auto* const for_client =
      new std::shared_ptr<const LoadedContext>(EnginePair::Loaded(ca.Client()));
  static const auto* const for_server =
      new std::shared_ptr<const LoadedContext>(EnginePair::Loaded(ca.Server()));
  return EnginePair(*for_client, *for_server);
}

void CheckAnswer(TlsEngine& server, bool failed) {
  Check(failed == !server.error().ok(), "an error is reported, and nothing else is");
  Check(server.TakeOutput().size() < size_t{16} << 10, "the answer to garbage is small");
}

void Begin(EnginePair& pair, size_t good, absl::string_view bytes) {
  Buffer nothing;
  Check(pair.client->Handshake(nothing) == Outcome::kMore, "a client begins");
  Buffer flight = pair.client->TakeOutput();
  Buffer input = flight.CutFront(std::min(good, flight.size()));
  input.Append(bytes);
  const Outcome outcome = pair.server->Handshake(input);
  // It may have been the rest of the flight, but never a client's second one.
  Check(outcome != Outcome::kDone, "there is no handshake without keys");
  CheckAnswer(*pair.server, outcome == Outcome::kFailed);
}

void GoOn(EnginePair& pair, absl::string_view bytes) {
  Check(pair.Shake(), "two good ends shake hands");
  Buffer input = EnginePair::Encrypted(*pair.client, "good");
  input.Append(bytes);
  PlainInput plain(*pair.pool);
  const Outcome outcome = pair.server->Read(input, plain);
  Check(plain.input().ToString() == "good", "only what was encrypted is read");
  Check(outcome != Outcome::kEnded, "a stream does not end without keys");
  CheckAnswer(*pair.server, outcome == Outcome::kFailed);
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  farcall::EnginePair pair = farcall::NewPair();
  if (data[0] < farcall::kAfterHandshake) {
    farcall::Begin(pair, size_t{4} * data[0], bytes);
  } else if (data[0] == farcall::kAfterHandshake) {
    farcall::GoOn(pair, bytes);
  } else {  // as a record
    std::string record = {23, 3, 3, static_cast<char>(bytes.size() >> 8),
                          static_cast<char>(bytes.size() & 0xff)};
    record.append(bytes.data(), bytes.size());
    farcall::GoOn(pair, record);
  }
  return 0;
}
