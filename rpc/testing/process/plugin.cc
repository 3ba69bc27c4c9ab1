// SPDX-License-Identifier: Apache-2.0
//
// A shared object with farcall linked into it, which a program loads and unloads.

#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

// A server and a client on runtimes of their own, a call, and nothing is left. 0: it was answered.
extern "C" int FarcallPluginRun();
extern "C" int FarcallPluginRun() {
  farcall::TestServer server;
  farcall::TestClient client(server.address());
  return farcall::TestCall().Call(client.channel()).Echoed() ? 0 : 1;
}
