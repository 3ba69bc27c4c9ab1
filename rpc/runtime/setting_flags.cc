// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/setting_flags.h"

#include "rpc/settings/flags.h"
#include "rpc/settings/settings.h"

namespace farcall {

void TakeSettingFlags(int* argc, char** argv) {
  RuntimeOptions options;
  KeepFlags(TakeFlags(argc, argv, Fields(options)));
}

}  // namespace farcall
