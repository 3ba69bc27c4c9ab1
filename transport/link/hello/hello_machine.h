// SPDX-License-Identifier: Apache-2.0
//
// What a connection becomes, as the two ends of a hello see it. Pure, total.
//
//   client   kAsking --accepted--> kLinked          link frames, both ways
//                    --declined--> kPlain           plain bytes on this connection
//                    --timeout---> kSilentPeer      it may be busy: a new connection, plain
//                    --else------> kNoHello        it knows no hello: the same
//
//   server   kSilent --part--> kBegun --hello--> kAnswering --accept--> kLinked
//                                                           --decline-> kPlain
//            kSilent, kBegun --other bytes--> kPlain
//            kSilent --timeout--> kPlain     this end wants to speak first
//            kBegun --timeout--> kClosed     half a hello, and silence
//            any --broken hello--> kClosed

#ifndef FARCALL_TRANSPORT_LINK_HELLO_HELLO_MACHINE_H_
#define FARCALL_TRANSPORT_LINK_HELLO_HELLO_MACHINE_H_

#include <cstdint>

namespace farcall {

enum class ClientHello : uint8_t { kAsking, kLinked, kPlain, kSilentPeer, kNoHello };
enum class ClientHelloEvent : uint8_t { kAccepted, kDeclined, kOtherBytes, kClosed, kTimedOut };
ClientHello Next(ClientHello state, ClientHelloEvent event);

enum class ServerHello : uint8_t { kSilent, kBegun, kAnswering, kLinked, kPlain, kClosed };
enum class ServerHelloEvent : uint8_t {
  kPart,  // of what may become a hello
  kHello,
  kOtherBytes,
  kBroken,
  kAccept,  // this end can be upgraded
  kDecline,
  kTimedOut,
};
ServerHello Next(ServerHello state, ServerHelloEvent event);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_HELLO_HELLO_MACHINE_H_
