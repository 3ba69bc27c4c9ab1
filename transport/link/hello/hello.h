// SPDX-License-Identifier: Apache-2.0
//
// The hello by which a client asks whether the server speaks link frames. Its first bytes
// on TCP:
//
//   offset 0   4  FA 43 4C 48, in the answer FA 43 4C 41
//   offset 4   4  bytes that follow these 8, most significant byte first
//   offset 8   4  bytes of the protobuf
//   offset 12     the protobuf, link.proto; then zeros
//
// No other protocol that a server may know at the same port begins so. A hello has at
// least 64 bytes, since brpc closes on an unknown prefix of 28 bytes or more, but waits on a
// shorter one.

#ifndef FARCALL_TRANSPORT_LINK_HELLO_HELLO_H_
#define FARCALL_TRANSPORT_LINK_HELLO_HELLO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/buffer/buffer.h"
#include "transport/link/hello/link.pb.h"

namespace farcall {

constexpr size_t kHelloHeader = 12;
constexpr size_t kHelloLeast = 64;
constexpr size_t kHelloMost = 4096;  // header and padding included

// Bytes; who takes less cannot be spoken to. That of StreamLimits.
constexpr uint32_t kMinPeerWindow = 4096;
constexpr uint32_t kLinkVersion = 1;
constexpr uint32_t kUpgradeToRdma = 1;  // Hello.transports

// What the first bytes of a connection are.
enum class HelloCut : uint8_t {
  kMore,    // they may become one
  kWhole,   // one was cut
  kOther,   // something else; nothing was taken
  kBroken,  // one by its magic, and malformed; nothing was taken
};

// What a hello of this end says. `window`: bytes; `rails`: that it would like to have, at least 1.
link::Hello MakeHello(uint32_t window, uint32_t rails = 1);

// What the two ends agree on, where the one asked for `asked` rails and the other says, or allows,
// `answered`: 1 to `asked`. 0 stands for an end that knows of one only.
uint32_t AgreedRails(uint32_t asked, uint32_t answered);

std::string EncodeHello(const link::Hello& hello);
std::string EncodeAnswer(const link::HelloAnswer& answer);

// `input` begins with the first byte of the connection. Takes exactly the hello.
HelloCut CutHello(Buffer& input, link::Hello& hello);
HelloCut CutAnswer(Buffer& input, link::HelloAnswer& answer);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_HELLO_HELLO_H_
