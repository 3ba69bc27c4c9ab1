// SPDX-License-Identifier: Apache-2.0

#include "transport/link/hello/hello_machine.h"

namespace farcall {
namespace {

ServerHello NextWhileSniffing(ServerHello state, ServerHelloEvent event) {
  switch (event) {
    case ServerHelloEvent::kPart:
      return ServerHello::kBegun;
    case ServerHelloEvent::kHello:
      return ServerHello::kAnswering;
    case ServerHelloEvent::kOtherBytes:
      return ServerHello::kPlain;
    case ServerHelloEvent::kBroken:
      return ServerHello::kClosed;
    case ServerHelloEvent::kTimedOut:
      return state == ServerHello::kSilent ? ServerHello::kPlain : ServerHello::kClosed;
    case ServerHelloEvent::kAccept:
    case ServerHelloEvent::kDecline:
      break;  // nothing was asked
  }
  return state;
}

}  // namespace

ClientHello Next(ClientHello state, ClientHelloEvent event) {
  if (state != ClientHello::kAsking) return state;
  switch (event) {
    case ClientHelloEvent::kAccepted:
      return ClientHello::kLinked;
    case ClientHelloEvent::kDeclined:
      return ClientHello::kPlain;
    case ClientHelloEvent::kTimedOut:
      return ClientHello::kSilentPeer;
    case ClientHelloEvent::kOtherBytes:
    case ClientHelloEvent::kClosed:
      break;
  }
  return ClientHello::kNoHello;
}

ServerHello Next(ServerHello state, ServerHelloEvent event) {
  switch (state) {
    case ServerHello::kSilent:
    case ServerHello::kBegun:
      return NextWhileSniffing(state, event);
    case ServerHello::kAnswering:
      if (event == ServerHelloEvent::kAccept) return ServerHello::kLinked;
      if (event == ServerHelloEvent::kDecline) return ServerHello::kPlain;
      if (event == ServerHelloEvent::kTimedOut) return ServerHello::kPlain;
      return state;
    case ServerHello::kLinked:
    case ServerHello::kPlain:
    case ServerHello::kClosed:
      break;
  }
  return state;
}

}  // namespace farcall
