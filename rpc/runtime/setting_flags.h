// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RUNTIME_SETTING_FLAGS_H_
#define FARCALL_RPC_RUNTIME_SETTING_FLAGS_H_

namespace farcall {

// For a main: takes the settings of docs/settings.md out of its arguments, as in --rdma.rails=2 or
// --link.peer_timeout 20s. What follows "--" stays. Each Runtime that is made later has them: they
// win over the program, over FARCALL_<FIELD> and over the file, and a wrong one is an error of
// Runtime::Create. Before there is another thread.
void TakeSettingFlags(int* argc, char** argv);

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_SETTING_FLAGS_H_
